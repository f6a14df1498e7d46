// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Calculates from answered requests until when a session of timeout T is certainly alive.
 *
 * <p>That the leader has a majority is ensured by the kind of request ({@link SessionHeartbeat}); this class is about what the
 * leader knows. A request that came through a follower does not touch the session at the leader. Instead, each follower reports
 * every half tick, so at least every T/4, which sessions were active. So the leader surely knows of a request that was answered
 * at {@code r} once another one, sent at {@code r} + T/4 or later, was answered. From there on, as long as the follower heard of
 * the client at least every T/4, each report named the session, the last one at most T/4 before the latest request: that
 * request then proves ¾ T. Thread-safe.
 */
final class SessionDeadlineCalculator {
    private record AnsweredRequest(MonotonicTime sent, MonotonicTime received) {}

    private final Duration timeout;
    private final Duration reportInterval;

    /** The latest request that the leader surely knows of; those after it are in {@link #later}. */
    @GuardedBy("this")
    private AnsweredRequest known;

    @GuardedBy("this")
    private final Deque<AnsweredRequest> later = new ArrayDeque<>();

    /** Whether the follower has heard of the client at least every T/4 since {@link #known}. */
    @GuardedBy("this")
    private boolean unbroken;

    /**
     * Starts with the first answered request of a session.
     *
     * @param newSession whether the leader created the session right before; not so on a handle that was open already
     */
    SessionDeadlineCalculator(Duration timeout, MonotonicTime sent, MonotonicTime received, boolean newSession) {
        this.timeout = timeout;
        this.reportInterval = Durations.divide(timeout, 4);
        this.known = new AnsweredRequest(newSession ? sent : sent.minus(reportInterval.multipliedBy(2)), received);
        this.unbroken = newSession;
        if (!newSession) {
            later.addLast(new AnsweredRequest(sent, received)); // the leader need not know of it yet
        }
    }

    /** Returns the deadline after the first answered request. */
    static MonotonicTime firstDeadline(Duration timeout, MonotonicTime sent, boolean newSession) {
        return LockClock.deadline(sent, newSession ? timeout.multipliedBy(3).dividedBy(4) : timeout.dividedBy(2));
    }

    /** Adds an answered request, and returns the deadline that follows from all of them. */
    synchronized MonotonicTime answered(MonotonicTime sent, MonotonicTime received) {
        later.addLast(new AnsweredRequest(sent, received));
        while (!later.isEmpty() && later.getFirst().received.until(sent).compareTo(reportInterval) >= 0) {
            known = later.removeFirst();
        }
        unbroken = true;
        MonotonicTime previousSent = known.sent;
        for (AnsweredRequest next : later) {
            // The follower heard the previous one no earlier than it was sent, and this one no later than it was
            // answered.
            unbroken &= previousSent.until(next.received).compareTo(reportInterval) <= 0;
            previousSent = next.sent;
        }
        return unbroken
                ? LockClock.deadline(sent, timeout.minus(reportInterval))
                : LockClock.deadline(known.sent, timeout);
    }

    /** Returns whether the latest request proved little, after a silence: another one should follow after {@link #reportInterval}. */
    synchronized boolean provedLittle() {
        return !unbroken;
    }

    /** Returns the longest time between two reports of a follower: half a tick, and a session has at least two ticks. */
    Duration reportInterval() {
        return reportInterval;
    }
}
