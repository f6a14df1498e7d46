// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of one lock as seen by one session, with the watch that the session's contenders share.
 *
 * <p>No callback runs under its monitor: notifications are collected there and run afterwards.
 */
public final class SessionLockQueue implements SessionLockQueueWatch.Listener {
    /** A contender that has joined the queue. */
    public interface Contender {
        /** Reports that the session has ended, once or more. Returns at once. */
        void sessionEnded();
    }

    private static final Logger log = LoggerFactory.getLogger(SessionLockQueue.class);

    /**
     * The time for which the watch stays open without contenders, so that clients that take turns need not register it again.
     */
    private static final Duration LINGER = Duration.ofMillis(400);

    /**
     * The minimum delay before a failed watch is opened again; the maximum is twice as long. A random delay spares a server
     * that lost all watches from getting them all at once.
     */
    private static final Duration RETRY = Duration.ofMillis(300);

    private final EtcdRequestSender requests;
    private final LockClock clock;
    private final String contenderPrefix;
    private final ByteSequence range;
    private final Consumer<SessionLockQueue> whenIdle;
    private final AcquireSequencer sequencer = new AcquireSequencer();

    @GuardedBy("this")
    private final Set<Contender> contenders = new LinkedHashSet<>(); // in the order in which they joined

    @GuardedBy("this")
    private int removals;

    @GuardedBy("this")
    private final BitSet slots = new BitSet();

    @GuardedBy("this")
    private final LocalContenderNotifier members = new LocalContenderNotifier();

    @GuardedBy("this")
    private @Nullable SessionLockQueueWatch watch;

    @GuardedBy("this")
    private boolean lingering;

    @GuardedBy("this")
    private MonotonicInstant lastUse;

    @GuardedBy("this")
    private boolean ended;

    /**
     * Creates a queue without contenders; sends nothing.
     *
     * @param contenderPrefix the common prefix of the keys of all contenders
     * @param whenIdle called when the queue may be discarded, if {@link #isIdle} is still true
     */
    public SessionLockQueue(
            EtcdRequestSender requests, LockClock clock, String contenderPrefix, Consumer<SessionLockQueue> whenIdle) {
        this.requests = requests;
        this.clock = clock;
        this.lastUse = clock.now();
        this.contenderPrefix = contenderPrefix;
        this.range = EtcdKeyLayout.bytes(contenderPrefix);
        this.whenIdle = whenIdle;
    }

    /** Returns the common prefix of the keys of all contenders. */
    public String contenderPrefix() {
        return contenderPrefix;
    }

    /** Returns the operation that reads the first contender, which is the holder. */
    public Op head() {
        return EtcdTransactionParts.head(range);
    }

    /** Returns the operation that reads one contender that was queued before that revision. */
    public Op anyBefore(long revision) {
        return EtcdTransactionParts.anyBefore(range, revision);
    }

    /** Returns the operation that counts the contenders. */
    public Op count() {
        return EtcdTransactionParts.count(range);
    }

    /** Returns the sequencer that decides which contender may send its acquire request. */
    public AcquireSequencer sequencer() {
        return sequencer;
    }

    /** Adds a contender and returns its slot, the lowest free one. */
    public synchronized int addContender(Contender contender) {
        contenders.add(contender);
        return addSlot();
    }

    /**
     * Returns one more slot, for a contender whose first slot turned out to be used in the store. The first slot stays
     * reserved here.
     */
    public synchronized int addSlot() {
        int slot = slots.nextClearBit(0);
        slots.set(slot);
        return slot;
    }

    /**
     * Counts a contender whose key is in the store and is now being deleted. Called once, before {@link #removeContender}.
     */
    public synchronized void removalStarted() {
        removals++;
    }

    /**
     * Returns whether other contenders are queued that are not being removed.
     *
     * @param found the number of contenders that were read, including the caller
     * @param ownRemovalStarted whether the caller itself is being removed
     */
    public synchronized boolean isTaken(long found, boolean ownRemovalStarted) {
        return found - (ownRemovalStarted ? 0 : 1) - removals > 0;
    }

    /**
     * Removes a contender whose key is certainly no longer in the store, and frees its slot.
     *
     * @param removalStarted whether {@link #removalStarted} was called for it
     */
    public void removeContender(Contender contender, int slot, boolean removalStarted) {
        synchronized (this) {
            contenders.remove(contender);
            removals -= removalStarted ? 1 : 0;
            slots.clear(slot);
        }
        whenIdle.accept(this);
    }

    /** Returns whether the queue has no contenders and no watch. */
    public synchronized boolean isIdle() {
        return contenders.isEmpty() && watch == null;
    }

    /** Notifies this waiter from now on when it becomes the first, and when its key is deleted. */
    public void watchAsWaiter(LocalContenderNotifier.Member member) {
        addMember(member, false);
    }

    /** Notifies this holder from now on when its key is deleted. */
    public void watchAsHolder(LocalContenderNotifier.Member member) {
        addMember(member, true);
    }

    private void addMember(LocalContenderNotifier.Member member, boolean holds) {
        SessionLockQueueWatch opening = null;
        List<Runnable> notifications;
        synchronized (this) {
            if (ended) {
                return;
            }
            notifications = members.add(member, holds);
            if (watch == null) {
                opening = new SessionLockQueueWatch(requests, contenderPrefix, this);
                watch = opening;
            }
        }
        if (opening != null) {
            opening.open();
        }
        notifications.forEach(IsolatedCallback::run);
    }

    /** Marks a contender as the holder. Returns whether it is notified of a deletion of its key without further calls. */
    public boolean becameHolder(LocalContenderNotifier.Member member) {
        List<Runnable> notifications = new ArrayList<>();
        boolean isNotified;
        synchronized (this) {
            isNotified = members.becameHolder(member, notifications);
        }
        notifications.forEach(IsolatedCallback::run);
        return isNotified;
    }

    /** Stops notifying this contender. */
    public void stopWatching(LocalContenderNotifier.Member member) {
        boolean startTimer = false;
        synchronized (this) {
            members.remove(member);
            // A member whose key was deleted has been removed from the members already, and may have been the last.
            if (watch != null && members.isEmpty()) {
                lastUse = clock.now();
                startTimer = !lingering;
                lingering = true;
            }
        }
        if (startTimer) {
            clock.schedule(LINGER, this::closeIfUnused);
        }
    }

    private void closeIfUnused() {
        SessionLockQueueWatch closing = null;
        synchronized (this) {
            lingering = false;
            if (watch != null && members.isEmpty()) {
                Duration unused = clock.since(lastUse);
                if (unused.compareTo(LINGER) < 0) {
                    lingering = true;
                    clock.schedule(LINGER.minus(unused), this::closeIfUnused);
                    return;
                }
                closing = watch;
                watch = null;
                members.markOutdated();
            }
        }
        if (closing != null) {
            closing.close();
            whenIdle.accept(this);
        }
    }

    /** Ends the queue with its session: its contenders are notified of that, and of nothing more. */
    public void end() {
        SessionLockQueueWatch closing;
        List<Contender> notified;
        synchronized (this) {
            ended = true;
            closing = watch;
            watch = null;
            members.clear();
            notified = List.copyOf(contenders);
            contenders.clear(); // some never leave, since the core discards them
        }
        sequencer.end();
        if (closing != null) {
            IsolatedCallback.run(closing::close);
        }
        notified.forEach(contender -> IsolatedCallback.run(contender::sessionEnded));
    }

    @Override
    public void refreshed(SessionLockQueueWatch from, GetResponse found) {
        List<Runnable> notifications;
        synchronized (this) {
            notifications = watch == from ? members.refreshed(found) : List.of();
        }
        notifications.forEach(IsolatedCallback::run);
    }

    @Override
    public void changed(SessionLockQueueWatch from, WatchResponse events) {
        List<Runnable> notifications;
        synchronized (this) {
            notifications = watch == from ? members.changed(events) : List.of();
        }
        notifications.forEach(IsolatedCallback::run);
    }

    /** Opens the watch again, if a contender still needs it. */
    @Override
    public void ended(SessionLockQueueWatch from, Throwable cause) {
        SessionLockQueueWatch next;
        synchronized (this) {
            if (watch != from) {
                return;
            }
            next = members.isEmpty() ? null : new SessionLockQueueWatch(requests, contenderPrefix, this);
            watch = next;
            members.markOutdated();
        }
        log.debug("event=watch-ended range={} cause=\"{}\"", contenderPrefix, cause.toString());
        from.close();
        if (next == null) {
            whenIdle.accept(this);
        } else {
            clock.schedule(RETRY.plusNanos(ThreadLocalRandom.current().nextLong(RETRY.toNanos())), next::open);
        }
    }
}
