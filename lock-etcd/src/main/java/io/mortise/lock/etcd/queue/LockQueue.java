// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of one lock as one session sees it: its keys, and one watch that all its contenders share.
 *
 * <p>Nothing is called under its monitor: what is to be told is collected there, and told after.
 */
public final class LockQueue implements LockQueueWatch.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockQueue.class);

    /** For how long the watch outlasts its last listener: one who takes turns with others need not register it each time. */
    private static final Duration LINGER = Duration.ofMillis(400);

    /** At least this, at most twice: a server that lost all watches at once does not get them all at once. */
    private static final Duration RETRY = Duration.ofMillis(300);

    private final EtcdRequests calls;
    private final LockClock clock;
    private final String contenders;
    private final ByteSequence range;
    private final Consumer<LockQueue> whenIdle;
    private final AcquireSequencer order = new AcquireSequencer();

    @GuardedBy("this")
    private int users;

    @GuardedBy("this")
    private int leaving;

    @GuardedBy("this")
    private final BitSet slots = new BitSet();

    @GuardedBy("this")
    private final QueuedContenders members = new QueuedContenders();

    @GuardedBy("this")
    private @Nullable LockQueueWatch watching;

    @GuardedBy("this")
    private boolean lingering;

    @GuardedBy("this")
    private MonotonicTime lastUse;

    @GuardedBy("this")
    private boolean over;

    /**
     * Creates a queue that nobody uses yet; sends nothing.
     *
     * @param whenIdle told when the queue may be forgotten, if {@link #isIdle} is still true
     */
    public LockQueue(EtcdRequests calls, LockClock clock, String contenders, Consumer<LockQueue> whenIdle) {
        this.calls = calls;
        this.clock = clock;
        this.lastUse = clock.now();
        this.contenders = contenders;
        this.range = EtcdKeyLayout.bytes(contenders);
        this.whenIdle = whenIdle;
    }

    /** What the keys of all contenders begin with. */
    public String contenders() {
        return contenders;
    }

    /** Asks for the contender that came first: the holder. */
    public Op head() {
        return TransactionParts.head(range);
    }

    /** Asks for a contender that came before that revision. */
    public Op ahead(long revision) {
        return TransactionParts.ahead(range, revision);
    }

    /** Asks how many contenders there are. */
    public Op count() {
        return TransactionParts.count(range);
    }

    /** In which acquires go. */
    public AcquireSequencer order() {
        return order;
    }

    /** A contender begins to use it: the lowest slot that is free. */
    public synchronized int enter() {
        users++;
        return another();
    }

    /** One more slot for a contender whose own turned out to be taken in the store; that one stays taken here. */
    public synchronized int another() {
        int slot = slots.nextClearBit(0);
        slots.set(slot);
        return slot;
    }

    /** The contender's key is in the store, and is being taken away. Once, before {@link #leave}. */
    public synchronized void leaving() {
        leaving++;
    }

    /**
     * Whether others stand in the queue who stay.
     *
     * @param found as many were seen, with oneself
     * @param ownLeaves one's own key is among those that are being taken away
     */
    public synchronized boolean isTaken(long found, boolean ownLeaves) {
        return found - (ownLeaves ? 0 : 1) - leaving > 0;
    }

    /**
     * The contender's key is certainly not in the store any more.
     *
     * @param announced by {@link #leaving}
     */
    public void leave(int slot, boolean announced) {
        synchronized (this) {
            users--;
            leaving -= announced ? 1 : 0;
            slots.clear(slot);
        }
        whenIdle.accept(this);
    }

    /** Nothing of it is in use. */
    public synchronized boolean isIdle() {
        return users == 0 && watching == null;
    }

    /** From now on it hears when it is first, and of the deletion of its key. */
    public void await(QueuedContenders.Member member) {
        join(member, false);
    }

    /** It holds the lock, for a while already: it hears of the deletion of its key. */
    public void guard(QueuedContenders.Member member) {
        join(member, true);
    }

    private void join(QueuedContenders.Member member, boolean holds) {
        LockQueueWatch opening = null;
        List<Runnable> told;
        synchronized (this) {
            if (over) {
                return;
            }
            told = members.add(member, holds);
            if (watching == null) {
                opening = new LockQueueWatch(calls, contenders, this);
                watching = opening;
            }
        }
        if (opening != null) {
            opening.open();
        }
        told.forEach(Runnable::run);
    }

    /** It has become the holder. Whether deletions of its key are told without more. */
    public boolean granted(QueuedContenders.Member member) {
        List<Runnable> told = new ArrayList<>();
        boolean listens;
        synchronized (this) {
            listens = members.granted(member, told);
        }
        told.forEach(Runnable::run);
        return listens;
    }

    /** It hears of nothing any more. */
    public void forget(QueuedContenders.Member member) {
        boolean timer = false;
        synchronized (this) {
            members.remove(member);
            // Whoever was told that its key was deleted was none of them any more, and may have been the last.
            if (watching != null && members.isEmpty()) {
                lastUse = clock.now();
                timer = !lingering;
                lingering = true;
            }
        }
        if (timer) {
            clock.schedule(LINGER, this::closeIfUnused);
        }
    }

    private void closeIfUnused() {
        LockQueueWatch closing = null;
        synchronized (this) {
            lingering = false;
            if (watching != null && members.isEmpty()) {
                Duration unused = clock.since(lastUse);
                if (unused.compareTo(LINGER) < 0) {
                    lingering = true;
                    clock.schedule(LINGER.minus(unused), this::closeIfUnused);
                    return;
                }
                closing = watching;
                watching = null;
                members.blind();
            }
        }
        if (closing != null) {
            closing.close();
            whenIdle.accept(this);
        }
    }

    /** The session has ended: who waits hears of that, and nobody of anything more. */
    public void end() {
        LockQueueWatch closing;
        List<Runnable> told;
        synchronized (this) {
            over = true;
            closing = watching;
            watching = null;
            told = members.clear();
        }
        if (closing != null) {
            closing.close();
        }
        order.open();
        told.forEach(Runnable::run);
    }

    @Override
    public void refreshed(LockQueueWatch from, GetResponse found) {
        List<Runnable> told;
        synchronized (this) {
            told = watching == from ? members.refreshed(found) : List.of();
        }
        told.forEach(Runnable::run);
    }

    @Override
    public void changed(LockQueueWatch from, WatchResponse events) {
        List<Runnable> told;
        synchronized (this) {
            told = watching == from ? members.changed(events) : List.of();
        }
        told.forEach(Runnable::run);
    }

    /** Another one, as long as somebody needs it. */
    @Override
    public void ended(LockQueueWatch from, Throwable cause) {
        LockQueueWatch next;
        synchronized (this) {
            if (watching != from) {
                return;
            }
            next = members.isEmpty() ? null : new LockQueueWatch(calls, contenders, this);
            watching = next;
            members.blind();
        }
        log.debug("event=watch-ended range={} cause=\"{}\"", contenders, cause.toString());
        from.close();
        if (next == null) {
            whenIdle.accept(this);
        } else {
            clock.schedule(RETRY.plusNanos(ThreadLocalRandom.current().nextLong(RETRY.toNanos())), next::open);
        }
    }
}
