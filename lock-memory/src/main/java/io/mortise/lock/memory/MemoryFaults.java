// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Faults between clients and a {@link MemoryStore}, injected on demand until {@link #heal()}. Those of {@link
 * MemoryStore#faults()} meet all clients; those of {@link MemoryStore#faultsOfOne()} the one that was opened with them.
 * Thread-safe. Durations count by the store's clock.
 */
public final class MemoryFaults {
    /** What becomes of one request; later is worse. */
    enum Fate {
        PASSES,
        REPLY_LOST,
        REQUEST_LOST,
        REFUSED;

        Fate worse(Fate other) {
            return compareTo(other) > 0 ? this : other;
        }
    }

    private static final LossReason EXPIRED =
            new LossReason(LossReason.Kind.EXPIRED, "a scripted fault ended the lease");

    private final MemoryStore store;

    // All guarded by this.
    private final Deque<Runnable> held = new ArrayDeque<>();
    private boolean frozen;
    private boolean refusing;
    private @Nullable MonotonicTime refusingUntil;
    private int repliesToLose;
    private int requestsToLose;
    private boolean losesHints;
    private Duration delay = Duration.ZERO;

    MemoryFaults(MemoryStore store) {
        this.store = store;
    }

    /** Every request fails at once with {@link io.mortise.lock.BackendUnavailableException} and does nothing. */
    public synchronized void refuse() {
        refusing = true;
        refusingUntil = null;
    }

    /** As {@link #refuse()}, for so long. */
    public synchronized void refuse(Duration time) {
        refusing = true;
        refusingUntil = store.now().plus(time);
    }

    /**
     * The next request that is sent is executed and never answered: its sender does not know whether it has the lock. One
     * more with each call.
     */
    public synchronized void dropNextReply() {
        repliesToLose++;
    }

    /** The next request that is sent never arrives. One more with each call. */
    public synchronized void dropNextRequest() {
        requestsToLose++;
    }

    /** Answers arrive so much later than the store gave them; zero ends it. */
    public synchronized void delayReplies(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("delay is " + time + ", must be zero or more");
        }
        delay = time;
    }

    /** Hints that a lock was granted go missing: waiters find out when they ask again, after at most 6 s (S11). */
    public synchronized void loseHints() {
        losesHints = true;
    }

    /** Nothing passes in either direction, and nobody is told: a store that hangs, or a cable that was pulled. */
    public synchronized void freeze() {
        frozen = true;
    }

    /** Ends {@link #freeze()}: what was sent meanwhile arrives now, late and in order. */
    public void thaw() {
        while (true) {
            Runnable message;
            synchronized (this) {
                message = held.poll();
                if (message == null) {
                    frozen = false;
                    return;
                }
            }
            message.run(); // still frozen meanwhile, so that what is sent now queues behind
        }
    }

    /** Ends all faults, {@link #freeze()} as {@link #thaw()} does. */
    public void heal() {
        synchronized (this) {
            refusing = false;
            repliesToLose = 0;
            requestsToLose = 0;
            losesHints = false;
            delay = Duration.ZERO;
        }
        thaw();
    }

    /**
     * The lease of whoever holds that lock ends now, and its holder is told {@link LossReason.Kind#EXPIRED} at once. The next
     * waiter has the lock.
     *
     * @return false if nobody held it
     */
    public boolean expire(String name) {
        return store.takeFromAnyone(name, EXPIRED);
    }

    /**
     * As {@link #expire(String)}, of every lock that a client holds which meets these faults: what the end of its session
     * would do in a store that has sessions.
     *
     * @return how many leases ended
     */
    public int expireAll() {
        return store.takeAll(holder -> this == store.faults() || holder.connection.meets(this), EXPIRED);
    }

    /**
     * As {@link #expire}, but the holder notices only at its next renewal and believes until then: the case that fencing
     * tokens are for (S3).
     */
    public boolean expireUnnoticed(String name) {
        return store.takeFromAnyone(name, null);
    }

    /** As an operator's forced release: the holder is told {@link LossReason.Kind#REMOVED} at once. */
    public boolean remove(String name) {
        return store.takeFromAnyone(
                name, new LossReason(LossReason.Kind.REMOVED, "a scripted fault removed the grant"));
    }

    /** Decided when the request is sent, so that a request it sets off in another client does not take its fate. */
    synchronized Fate next() {
        if (refuses()) {
            return Fate.REFUSED;
        }
        if (requestsToLose > 0) {
            requestsToLose--;
            return Fate.REQUEST_LOST;
        }
        if (repliesToLose > 0) {
            repliesToLose--;
            return Fate.REPLY_LOST;
        }
        return Fate.PASSES;
    }

    private boolean refuses() {
        if (refusing && refusingUntil != null && !store.now().isBefore(refusingUntil)) {
            refusing = false;
        }
        return refusing;
    }

    /** Runs the message now, or when the connection is thawed. */
    void pass(Runnable message) {
        synchronized (this) {
            if (frozen) {
                held.add(message);
                return;
            }
        }
        message.run();
    }

    synchronized Duration delay() {
        return delay;
    }

    synchronized boolean losesHints() {
        return losesHints;
    }

    /** Whether a new client would get no answer. */
    synchronized boolean silent() {
        return frozen || refuses();
    }

    /** Whether any fault is set. */
    synchronized boolean active() {
        return silent() || losesHints || requestsToLose + repliesToLose > 0 || !delay.isZero();
    }
}
