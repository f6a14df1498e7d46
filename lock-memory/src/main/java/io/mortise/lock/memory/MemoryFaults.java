// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Injects faults between clients and a {@link MemoryStore}, until {@link #heal()} ends them.
 *
 * <p>The faults of {@link MemoryStore#faults()} affect all clients; those of {@link MemoryStore#newClientFaults()} affect only the
 * client that was connected with them. Durations are measured by the clock of the store. Thread-safe.
 */
public final class MemoryFaults {
    /** The fault of one request, from the least to the most severe. */
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
            new LossReason(LossReason.Kind.EXPIRED, "an injected fault ended the lease");

    private final MemoryStore store;

    // All fields below are guarded by this.
    private final Deque<Runnable> held = new ArrayDeque<>();
    private boolean frozen;
    private boolean refusing;
    private @Nullable MonotonicInstant refusingUntil;
    private int repliesToLose;
    private int requestsToLose;
    private boolean losesHints;
    private Duration delay = Duration.ZERO;

    MemoryFaults(MemoryStore store) {
        this.store = store;
    }

    /**
     * Makes every request fail immediately, with {@link io.mortise.lock.BackendUnavailableException} and without any effect in
     * the store. Meanwhile no holder is notified that its grant was removed, as over a cut connection; it finds out by its next
     * renewal.
     */
    public synchronized void refuse() {
        refusing = true;
        refusingUntil = null;
    }

    /** Makes every request fail as {@link #refuse()} does, for the given time from now. */
    public synchronized void refuse(Duration time) {
        refusing = true;
        refusingUntil = store.now().plus(time);
    }

    /**
     * Loses the reply to the next request: the store executes the request, but the client cannot know its outcome. Each call
     * loses one more reply.
     */
    public synchronized void dropNextReply() {
        repliesToLose++;
    }

    /** Loses the next request, so that it never reaches the store. Each call loses one more request. */
    public synchronized void dropNextRequest() {
        requestsToLose++;
    }

    /**
     * Delays every reply of the store.
     *
     * @param time the delay; zero ends this fault
     * @throws IllegalArgumentException if the delay is negative
     */
    public synchronized void delayReplies(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("delay is " + time + ", must be zero or more");
        }
        delay = time;
    }

    /** Loses the hints that wake waiters: they notice a grant only when they retry, after at most 6 s (S11). */
    public synchronized void loseHints() {
        losesHints = true;
    }

    /** Holds back all messages in both directions without an error, as if the store hangs or the network is interrupted. */
    public synchronized void freeze() {
        frozen = true;
    }

    /** Ends {@link #freeze()}. The messages that were held back arrive now, in the order in which they were sent. */
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
            message.run(); // still frozen, so that a message which is sent now arrives after the others
        }
    }

    /** Ends all faults; messages that {@link #freeze()} held back arrive now, as after {@link #thaw()}. */
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
     * Ends the lease of one lock now, and grants the lock to the next waiter. The holder immediately loses its lease with
     * {@link LossReason.Kind#EXPIRED}.
     *
     * @return false if no client held the lock
     */
    public boolean expire(String name) {
        return store.removeAnyGrant(name, EXPIRED);
    }

    /**
     * Ends all leases of the clients that these faults affect, as {@link #expire(String)} does. It simulates the end of a
     * session, since this store has no sessions.
     *
     * @return how many leases ended
     */
    public int expireAll() {
        return store.removeGrants(holder -> this == store.faults() || holder.connection.hasFaults(this), EXPIRED);
    }

    /**
     * Ends the lease of one lock now, without a notification of the holder. The holder considers its lease valid until its next
     * renewal; fencing tokens protect a resource in this case (S3).
     *
     * @return false if no client held the lock
     */
    public boolean expireUnnoticed(String name) {
        return store.removeAnyGrant(name, null);
    }

    /**
     * Removes the grant of one lock now, as an operator's forced release does. The holder immediately loses its lease with
     * {@link LossReason.Kind#REMOVED}.
     *
     * @return false if no client held the lock
     */
    public boolean remove(String name) {
        return store.removeAnyGrant(
                name, new LossReason(LossReason.Kind.REMOVED, "an injected fault removed the grant"));
    }

    /**
     * Returns what happens to the next request. It is decided when the request is sent, before the request can cause another
     * client to send one.
     */
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

    /** Delivers the message now, or when the freeze ends. */
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

    /** Returns whether a message of the store is lost: a hint, or the notification of a loss. */
    synchronized boolean loses(boolean hint) {
        return hint ? losesHints : refuses();
    }

    /** Returns whether a new client would get no response. */
    synchronized boolean silent() {
        return frozen || refuses();
    }

    /** Returns whether any fault is active. */
    synchronized boolean active() {
        return silent() || losesHints || requestsToLose + repliesToLose > 0 || !delay.isZero();
    }
}
