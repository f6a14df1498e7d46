// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

/**
 * A client's session with its queue for the explored lock: what {@code EtcdSession}, {@code SessionLockQueue}, {@code
 * LocalContenderNotifier}, {@code QueueReplica} and {@code AcquireSequencer} keep, in a form that can be copied. Contenders are
 * numbers.
 */
public final class ModelledSession implements Cloneable {
    /** A notification of a contender. */
    public enum Notification {
        FIRST_IN_QUEUE,
        DELETED
    }

    /** A notification of a contender that waits for its turn. */
    public enum TurnNotification {
        SEND_NOW,
        LOCK_TAKEN,
        NOT_SENT
    }

    /** The state of the watch on the lock's keys. */
    enum Watch {
        NONE,
        OPENING,
        REGISTERED
    }

    /** A contender that is notified, and its key. */
    public record Member(int contender, long revision) {}

    final long lease;
    boolean deadlinePassed;
    boolean ended;
    long epoch = 1;
    int series;
    TreeSet<Integer> slots = new TreeSet<>();
    TreeSet<Integer> joined = new TreeSet<>();
    int removals;

    TreeMap<String, Member> waiting = new TreeMap<>();
    TreeMap<String, Member> holding = new TreeMap<>();
    TreeMap<String, Long> replica = new TreeMap<>();
    long readRevision;
    long lastRevision;
    boolean upToDate;
    long notifiedHead;
    Watch watch = Watch.NONE;
    List<List<Event>> arriving = new ArrayList<>();
    List<List<Event>> early = new ArrayList<>();

    List<Integer> turns = new ArrayList<>(); // that are awaited
    TreeSet<Integer> unnotified = new TreeSet<>();
    int active = -1;
    boolean sequencing = true;

    public ModelledSession(long lease) {
        this.lease = lease;
    }

    ModelledSession copy() {
        try {
            ModelledSession copy = (ModelledSession) clone();
            copy.slots = new TreeSet<>(slots);
            copy.joined = new TreeSet<>(joined);
            copy.waiting = new TreeMap<>(waiting);
            copy.holding = new TreeMap<>(holding);
            copy.replica = new TreeMap<>(replica);
            copy.arriving = new ArrayList<>(arriving);
            copy.early = new ArrayList<>(early);
            copy.turns = new ArrayList<>(turns);
            copy.unnotified = new TreeSet<>(unnotified);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }

    String key() {
        return "%s" + lease;
    }

    int addSlot() {
        int slot = 0;
        while (slots.contains(slot)) {
            slot++;
        }
        slots.add(slot);
        return slot;
    }

    /** Stops notifying a contender. */
    public void removeMember(String key, Member member) {
        waiting.remove(key, member);
        holding.remove(key, member);
    }

    boolean knows(int contender) {
        return active == contender
                || turns.contains(contender)
                || joined.contains(contender)
                || Stream.concat(waiting.values().stream(), holding.values().stream())
                        .anyMatch(member -> member.contender == contender);
    }

    boolean hasMembers() {
        return !waiting.isEmpty() || !holding.isEmpty();
    }

    // ---- notifications of the queue

    public void addMember(String key, Member member, boolean holds, BiConsumer<Integer, Notification> notify) {
        (holds ? holding : waiting).put(key, member);
        List<Integer> missing = upToDate ? removeMissing() : List.of();
        Optional<Integer> head = upToDate ? newHead() : Optional.empty();
        if (watch == Watch.NONE) {
            watch = Watch.OPENING;
        }
        missing.forEach(each -> notify.accept(each, Notification.DELETED));
        head.ifPresent(each -> notify.accept(each, Notification.FIRST_IN_QUEUE));
    }

    /** Returns whether the holder is notified of a deletion without further calls. */
    public boolean becameHolder(String key, Member member, BiConsumer<Integer, Notification> notify) {
        if (!waiting.remove(key, member) && !upToDate) {
            return false;
        }
        holding.put(key, member);
        if (upToDate) {
            removeMissing().forEach(each -> notify.accept(each, Notification.DELETED));
        }
        return true;
    }

    public void refreshed(EtcdStore found, String prefix, BiConsumer<Integer, Notification> notify) {
        replica.clear();
        found.queue(prefix).forEach(key -> replica.put(key, found.createRevision(key)));
        readRevision = found.revision();
        lastRevision = found.revision();
        notifiedHead = 0;
        upToDate = true;
        List<Integer> missing = removeMissing();
        missing.forEach(each -> notify.accept(each, Notification.DELETED));
        early.forEach(events -> apply(events, notify));
        early.clear();
        newHead().ifPresent(each -> notify.accept(each, Notification.FIRST_IN_QUEUE));
    }

    public void changed(List<Event> events, BiConsumer<Integer, Notification> notify) {
        if (upToDate) {
            apply(events, notify);
            newHead().ifPresent(each -> notify.accept(each, Notification.FIRST_IN_QUEUE));
        } else {
            early.add(events);
        }
    }

    private void apply(List<Event> events, BiConsumer<Integer, Notification> notify) {
        for (Event event : events) {
            if (event.revision() > readRevision) {
                lastRevision = Math.max(lastRevision, event.revision());
                if (event.isDeletion()) {
                    replica.remove(event.key());
                } else {
                    replica.put(event.key(), event.createRevision());
                }
            }
            if (event.isDeletion()) {
                for (TreeMap<String, Member> members : List.of(waiting, holding)) {
                    Member member = members.get(event.key());
                    if (member != null && member.revision < event.revision()) {
                        members.remove(event.key());
                        notify.accept(member.contender, Notification.DELETED);
                    }
                }
            }
        }
    }

    private Optional<Integer> newHead() {
        Optional<Map.Entry<String, Long>> head =
                replica.entrySet().stream().min(Comparator.comparingLong(Map.Entry::getValue));
        if (head.isEmpty()) {
            return Optional.empty();
        }
        Member first = waiting.get(head.get().getKey());
        long revision = head.get().getValue();
        if (first == null || first.revision != revision || revision == notifiedHead) {
            return Optional.empty();
        }
        notifiedHead = revision;
        return Optional.of(first.contender);
    }

    private List<Integer> removeMissing() {
        List<Integer> missing = new ArrayList<>();
        for (TreeMap<String, Member> members : List.of(waiting, holding)) {
            members.entrySet().removeIf(each -> {
                Long known = replica.get(each.getKey());
                long revision = each.getValue().revision;
                boolean isMissing = revision <= lastRevision && (known == null || known != revision);
                if (isMissing) {
                    missing.add(each.getValue().contender);
                }
                return isMissing;
            });
        }
        return missing;
    }

    public void endWatch(boolean reopen) {
        watch = reopen ? Watch.OPENING : Watch.NONE;
        arriving.clear();
        early.clear();
        upToDate = false;
        replica.clear(); // it is read again before it counts: so fewer states differ
        readRevision = 0;
        lastRevision = 0;
        notifiedHead = 0;
    }

    void end() {
        ended = true;
        waiting.clear();
        holding.clear();
        endWatch(false);
        turns.clear();
        unnotified.clear();
        active = -1;
        sequencing = true;
    }

    // ---- turns

    /** Returns whether the contender may send now; if not, it waits for its turn. */
    public boolean maySend(int contender) {
        if (!sequencing || active < 0 || active == contender) {
            active = sequencing ? contender : active;
            return true;
        }
        if (!turns.contains(contender)) {
            turns.add(contender);
        }
        unnotified.add(contender);
        return false;
    }

    /**
     * Passes the turn of a contender whose request had a reply.
     *
     * @param isTaken whether the lock is taken, of which the others are told then
     */
    public void passTurn(
            int contender, boolean isTaken, IntPredicate isNeeded, BiConsumer<Integer, TurnNotification> notify) {
        sequencing = true;
        turns.remove((Integer) contender);
        unnotified.remove(contender);
        List<Integer> notified = isTaken ? List.copyOf(unnotified) : List.of();
        unnotified.removeAll(notified);
        int next = successorOf(contender);
        notified.forEach(each -> notify.accept(each, TurnNotification.LOCK_TAKEN));
        startNext(next, isNeeded, notify);
    }

    /** Lets all contenders send, since the store does not respond. */
    public void releaseTurns(IntPredicate isNeeded, BiConsumer<Integer, TurnNotification> notify) {
        sequencing = false;
        active = -1;
        List<Integer> all = List.copyOf(turns);
        turns.clear();
        unnotified.clear();
        all.forEach(each ->
                notify.accept(each, isNeeded.test(each) ? TurnNotification.SEND_NOW : TurnNotification.NOT_SENT));
    }

    /** Removes a contender that has nothing more to send. */
    public void leaveTurns(int contender, IntPredicate isNeeded, BiConsumer<Integer, TurnNotification> notify) {
        turns.remove((Integer) contender);
        unnotified.remove(contender);
        startNext(successorOf(contender), isNeeded, notify);
    }

    private void startNext(int first, IntPredicate isNeeded, BiConsumer<Integer, TurnNotification> notify) {
        int next = first;
        while (next >= 0 && !isNeeded.test(next)) {
            int skipped = next;
            next = successorOf(skipped);
            notify.accept(skipped, TurnNotification.LOCK_TAKEN);
        }
        if (next >= 0) {
            notify.accept(next, TurnNotification.SEND_NOW);
        }
    }

    /** Ends a turn, and returns whose turn it is then; -1 if nobody waits, or if it was the turn of another. */
    private int successorOf(int contender) {
        if (active != contender) {
            return -1;
        }
        active = turns.isEmpty() ? -1 : turns.remove(0);
        unnotified.remove(active);
        return active;
    }

    /**
     * Describes what distinguishes sessions.
     *
     * @param revisions the revisions of all keys: only how others compare with them counts
     */
    void describe(StateKey key, NavigableSet<Long> revisions) {
        key.number(lease).flags(deadlinePassed, ended);
        if (ended) {
            return;
        }
        key.number(epoch).number(series).numbers(slots).number(removals).list(joined, StateKey::participant);
        key.value(watch);
        if (watch != Watch.NONE) {
            key.flags(upToDate);
            key.list(waiting.entrySet(), ModelledSession::describe);
            key.list(holding.entrySet(), ModelledSession::describe);
            key.list(
                    replica.entrySet(),
                    (into, each) ->
                            into.value(each.getKey()).number(each.getValue()).flags(each.getValue() == notifiedHead));
            key.number(revisions.headSet(lastRevision, true).size());
            key.value(" early").list(early, this::describe);
            key.value(" arriving").list(arriving, this::describe);
        }
        key.value(" turns").list(turns, StateKey::participant).list(unnotified, StateKey::participant);
        key.flags(sequencing, active >= 0);
        if (active >= 0) {
            key.participant(active);
        }
    }

    private void describe(StateKey key, List<Event> events) {
        key.list(
                events,
                (into, event) -> into.value(event.key())
                        .number(event.createRevision())
                        .number(event.revision())
                        .flags(event.revision() > readRevision));
    }

    private static void describe(StateKey key, Map.Entry<String, Member> each) {
        Member member = each.getValue();
        key.value(each.getKey()).participant(member.contender).number(member.revision);
    }
}
