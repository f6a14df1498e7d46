// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How long answered requests prove a session of timeout T. That the leader had a majority is the matter of the request
 * ({@link ZkSession}); here it is about what the leader knows. A request that came through a follower does not touch the
 * session at the leader: a follower reports who was active, every half tick, at most every T/4. So a request that was answered
 * at {@code r} is surely known to the leader once another one was sent at {@code r} + T/4 or later and answered. From there on,
 * while the follower heard of us at least every T/4, each report spoke of us, the last at most T/4 before the latest request:
 * which then proves ¾ T. Arithmetic on instants of the monotonic clock; thread-safe.
 */
final class SessionProof {
    /** One answered request. */
    private record Answered(long sent, long received) {}

    private final Duration timeout;
    private final long report;

    /** The latest that the leader surely knows of; those after it are in {@link #later}. */
    @GuardedBy("this")
    private Answered known;

    @GuardedBy("this")
    private final Deque<Answered> later = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean unbroken;

    /**
     * Of a session whose first request was answered.
     *
     * @param made the leader made the session right before; not so on a handle that was open already
     */
    SessionProof(Duration timeout, long sent, long received, boolean made) {
        this.timeout = timeout;
        this.report = reportTime().toNanos();
        this.known = new Answered(made ? sent : sent - 2 * report, received);
        this.unbroken = made;
        if (!made) {
            later.addLast(new Answered(sent, received)); // the leader need not know of it yet
        }
    }

    /** Until when the first one proves it. */
    static long first(Duration timeout, long sent, boolean made) {
        return LockClock.deadline(sent, made ? timeout.multipliedBy(3).dividedBy(4) : timeout.dividedBy(2));
    }

    /** Another request was answered: until when the session certainly stands by all of them. */
    synchronized long answered(long sent, long received) {
        later.addLast(new Answered(sent, received));
        while (!later.isEmpty() && sent - later.getFirst().received >= report) {
            known = later.removeFirst();
        }
        unbroken = true;
        long before = known.sent;
        for (Answered next : later) {
            // The follower heard the one before no earlier than it was sent, and this one no later than it was
            // answered.
            unbroken &= next.received - before <= report;
            before = next.sent;
        }
        return unbroken
                ? LockClock.deadline(sent, timeout.multipliedBy(3).dividedBy(4))
                : LockClock.deadline(known.sent, timeout);
    }

    /** The latest one proved little, after a silence: another should follow {@link #reportTime} later. */
    synchronized boolean provedLittle() {
        return !unbroken;
    }

    /** After so long the leader knows what a follower knows: half a tick, and a session has at least two. */
    Duration reportTime() {
        return timeout.dividedBy(4);
    }
}
