// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * This client's contenders in one lock's queue, notified as the queue changes. Not thread-safe; it tells nobody itself, but
 * returns what is to be told once no lock is held.
 */
public final class QueuedContenders {
    /** One contender of this client, in the store. Returns at once. */
    public interface Member {
        QueueReplica.ContenderKey contenderKey();

        /** To be asked again: nobody is ahead any more, as far as can be seen from here, or the session has ended. */
        void firstInQueue();

        /** Its key was deleted, and not by itself. */
        void deleted();
    }

    private final Map<ByteSequence, Member> waiting = new HashMap<>();
    private final Map<ByteSequence, Member> holding = new HashMap<>();
    private final QueueReplica view = new QueueReplica();

    /** What a watch told before the read that it needs. */
    private final List<WatchResponse> early = new ArrayList<>();

    /** The view is up to date: there was a read since the watch began. */
    private boolean seeing;

    /** The one that was told last that it is first: once is enough. */
    private QueueReplica.@Nullable ContenderKey toldHead;

    /** It listens from now on. What it has missed already is told. */
    List<Runnable> add(Member member, boolean holds) {
        (holds ? holding : waiting).put(member.contenderKey().key(), member);
        List<Runnable> told = new ArrayList<>();
        if (seeing) {
            missing(told);
            tellHead(told);
        }
        return told;
    }

    /** One that has become the holder listens on, and one that never waited listens if that costs nothing. */
    boolean granted(Member member, List<Runnable> told) {
        ByteSequence key = member.contenderKey().key();
        if (!waiting.remove(key, member) && !seeing) {
            return false;
        }
        holding.put(key, member);
        if (seeing) {
            missing(told);
        }
        return true;
    }

    void remove(Member member) {
        ByteSequence key = member.contenderKey().key();
        waiting.remove(key, member);
        holding.remove(key, member);
    }

    boolean isEmpty() {
        return waiting.isEmpty() && holding.isEmpty();
    }

    /** The watch has ended: nothing is seen until the next read. */
    void blind() {
        seeing = false;
        early.clear();
    }

    /** Nobody listens any more. Returns what those who waited are told: to ask. */
    List<Runnable> clear() {
        List<Runnable> told = new ArrayList<>();
        waiting.values().forEach(member -> told.add(member::firstInQueue));
        waiting.clear();
        holding.clear();
        blind();
        return told;
    }

    List<Runnable> refreshed(GetResponse found) {
        List<QueueReplica.ContenderKey> keys = new ArrayList<>();
        for (KeyValue one : found.getKvs()) {
            keys.add(new QueueReplica.ContenderKey(one.getKey(), one.getCreateRevision()));
        }
        view.reset(found.getHeader().getRevision(), keys);
        toldHead = null;
        seeing = true;
        List<Runnable> told = new ArrayList<>();
        missing(told);
        early.forEach(events -> apply(events, told));
        early.clear();
        tellHead(told);
        return told;
    }

    List<Runnable> changed(WatchResponse events) {
        List<Runnable> told = new ArrayList<>();
        if (seeing) {
            apply(events, told);
            tellHead(told);
        } else {
            early.add(events);
        }
        return told;
    }

    private void tellHead(List<Runnable> told) {
        view.head().ifPresent(head -> {
            Member first = waiting.get(head.key());
            if (first != null && first.contenderKey().equals(head) && !head.equals(toldHead)) {
                toldHead = head;
                told.add(first::firstInQueue);
            }
        });
    }

    /** Those whose keys were there when they joined, and are not any more. */
    private void missing(List<Runnable> told) {
        missing(waiting, told);
        missing(holding, told);
    }

    private void missing(Map<ByteSequence, Member> members, List<Runnable> told) {
        members.values().removeIf(member -> {
            boolean missing = view.misses(member.contenderKey());
            if (missing) {
                told.add(member::deleted);
            }
            return missing;
        });
    }

    private void apply(WatchResponse events, List<Runnable> told) {
        for (WatchEvent event : events.getEvents()) {
            KeyValue key = event.getKeyValue();
            if (event.getEventType() == WatchEvent.EventType.DELETE) {
                view.deleted(key.getKey(), key.getModRevision());
                deleted(waiting, key, told);
                deleted(holding, key, told);
            } else {
                view.put(key.getKey(), key.getCreateRevision(), key.getModRevision());
            }
        }
    }

    private static void deleted(Map<ByteSequence, Member> members, KeyValue key, List<Runnable> told) {
        Member member = members.get(key.getKey());
        if (member != null
                && member.contenderKey().since() < key.getModRevision()) { // else it was the one before in its slot
            members.remove(key.getKey());
            told.add(member::deleted);
        }
    }
}
