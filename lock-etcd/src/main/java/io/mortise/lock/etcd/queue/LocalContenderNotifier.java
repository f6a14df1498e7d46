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
 * Determines which of this client's contenders in one lock's queue must be notified when the queue changes. Not
 * thread-safe. The notifications are returned, and the caller runs them when it holds no lock.
 */
public final class LocalContenderNotifier {
    /** A contender of this client whose key is in the store. Its methods return at once. */
    public interface Member {
        QueueReplica.ContenderKey contenderKey();

        /** Asks the contender to try again, since no other appears to be ahead of it. */
        void firstInQueue();

        /** Reports that the contender's key was deleted, but not by the contender itself. */
        void deleted();
    }

    private final Map<ByteSequence, Member> waiting = new HashMap<>();
    private final Map<ByteSequence, Member> holding = new HashMap<>();
    private final QueueReplica replica = new QueueReplica();

    /** Events that arrived before the read on which they build. */
    private final List<WatchResponse> earlyEvents = new ArrayList<>();

    /** Whether the replica is up to date: the queue was read after the current watch was registered. */
    private boolean upToDate;

    /** The first contender that was notified last, so that it is notified only once. */
    private QueueReplica.@Nullable ContenderKey notifiedHead;

    /** Adds a contender, and returns notifications of what it has already missed. */
    List<Runnable> add(Member member, boolean holds) {
        (holds ? holding : waiting).put(member.contenderKey().key(), member);
        List<Runnable> notifications = new ArrayList<>();
        if (upToDate) {
            notifyMissing(notifications);
            notifyHead(notifications);
        }
        return notifications;
    }

    /** Marks a contender as the holder. Keeps notifying it if it waited before, or if the replica is up to date anyway. */
    boolean becameHolder(Member member, List<Runnable> notifications) {
        ByteSequence key = member.contenderKey().key();
        if (!waiting.remove(key, member) && !upToDate) {
            return false;
        }
        holding.put(key, member);
        if (upToDate) {
            notifyMissing(notifications);
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

    /** Marks the replica as outdated until the next read, since the watch has ended. */
    void markOutdated() {
        upToDate = false;
        earlyEvents.clear();
    }

    /** Removes all contenders. */
    void clear() {
        waiting.clear();
        holding.clear();
        markOutdated();
    }

    List<Runnable> refreshed(GetResponse found) {
        List<QueueReplica.ContenderKey> keys = new ArrayList<>();
        for (KeyValue keyValue : found.getKvs()) {
            keys.add(new QueueReplica.ContenderKey(keyValue.getKey(), keyValue.getCreateRevision()));
        }
        replica.reset(found.getHeader().getRevision(), keys);
        notifiedHead = null;
        upToDate = true;
        List<Runnable> notifications = new ArrayList<>();
        notifyMissing(notifications);
        earlyEvents.forEach(events -> apply(events, notifications));
        earlyEvents.clear();
        notifyHead(notifications);
        return notifications;
    }

    List<Runnable> changed(WatchResponse events) {
        List<Runnable> notifications = new ArrayList<>();
        if (upToDate) {
            apply(events, notifications);
            notifyHead(notifications);
        } else {
            earlyEvents.add(events);
        }
        return notifications;
    }

    private void notifyHead(List<Runnable> notifications) {
        replica.head().ifPresent(head -> {
            Member first = waiting.get(head.key());
            if (first != null && first.contenderKey().equals(head) && !head.equals(notifiedHead)) {
                notifiedHead = head;
                notifications.add(first::firstInQueue);
            }
        });
    }

    /** Notifies the contenders whose keys existed when they were added and no longer exist. */
    private void notifyMissing(List<Runnable> notifications) {
        notifyMissing(waiting, notifications);
        notifyMissing(holding, notifications);
    }

    private void notifyMissing(Map<ByteSequence, Member> members, List<Runnable> notifications) {
        members.values().removeIf(member -> {
            boolean missing = replica.isMissing(member.contenderKey());
            if (missing) {
                notifications.add(member::deleted);
            }
            return missing;
        });
    }

    private void apply(WatchResponse events, List<Runnable> notifications) {
        for (WatchEvent event : events.getEvents()) {
            KeyValue key = event.getKeyValue();
            if (event.getEventType() == WatchEvent.EventType.DELETE) {
                replica.deleted(key.getKey(), key.getModRevision());
                onDeleted(waiting, key, notifications);
                onDeleted(holding, key, notifications);
            } else {
                replica.put(key.getKey(), key.getCreateRevision(), key.getModRevision());
            }
        }
    }

    private static void onDeleted(Map<ByteSequence, Member> members, KeyValue key, List<Runnable> notifications) {
        Member member = members.get(key.getKey());
        // A deletion before the member's own key was created is that of the slot's previous contender.
        if (member != null && member.contenderKey().createRevision() < key.getModRevision()) {
            members.remove(key.getKey());
            notifications.add(member::deleted);
        }
    }
}
