// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Calculates, from completed requests, the earliest time at which the server could expire a session. Thread-safe.
 *
 * <p>In the following, T is the session timeout. The kind of request ensures that the leader has a majority, see {@link
 * SessionHeartbeat}; this class is about what the leader knows. A request that came through a follower does not touch the
 * session at the leader. Instead each follower reports every half tick, so at least every T/4, which sessions were active. So
 * the leader certainly knows of a request whose reply arrived at {@code r} once another request, sent at {@code r} + T/4 or
 * later, has completed. From then on, as long as the follower received a request from the client at least every T/4, each
 * report named the session, the last one at most T/4 before the latest request. That request then proves that the session lives
 * for ¾ T.
 */
final class SessionDeadlineCalculator {
    private record CompletedRequest(MonotonicInstant sent, MonotonicInstant received) {}

    private final Duration timeout;
    private final Duration reportInterval;

    /** The latest request of which the leader certainly knows; the requests after it are in {@link #later}. */
    @GuardedBy("this")
    private CompletedRequest knownToLeader;

    @GuardedBy("this")
    private final Deque<CompletedRequest> later = new ArrayDeque<>();

    /** Whether the follower has received a request from the client at least every T/4 since {@link #knownToLeader}. */
    @GuardedBy("this")
    private boolean reportedWithoutGap;

    /**
     * Starts with the first completed request of a session.
     *
     * @param newSession whether the leader created the session just before the request; false for a handle that was already
     *     open
     */
    SessionDeadlineCalculator(Duration timeout, MonotonicInstant sent, MonotonicInstant received, boolean newSession) {
        this.timeout = timeout;
        this.reportInterval = Durations.divide(timeout, 4);
        this.knownToLeader =
                new CompletedRequest(newSession ? sent : sent.minus(reportInterval.multipliedBy(2)), received);
        this.reportedWithoutGap = newSession;
        if (!newSession) {
            later.addLast(new CompletedRequest(sent, received)); // the leader may not know of it yet
        }
    }

    /** Returns the deadline after the first completed request. */
    static MonotonicInstant firstDeadline(Duration timeout, MonotonicInstant sent, boolean newSession) {
        return LockClock.deadline(sent, newSession ? timeout.multipliedBy(3).dividedBy(4) : timeout.dividedBy(2));
    }

    /** Adds a completed request, and returns the deadline that follows from all completed requests. */
    synchronized MonotonicInstant onReply(MonotonicInstant sent, MonotonicInstant received) {
        later.addLast(new CompletedRequest(sent, received));
        while (!later.isEmpty() && later.getFirst().received.until(sent).compareTo(reportInterval) >= 0) {
            knownToLeader = later.removeFirst();
        }
        reportedWithoutGap = true;
        MonotonicInstant previousSent = knownToLeader.sent;
        for (CompletedRequest next : later) {
            // The follower received the previous request no earlier than it was sent, and this one no later than its
            // reply.
            reportedWithoutGap &= previousSent.until(next.received).compareTo(reportInterval) <= 0;
            previousSent = next.sent;
        }
        return reportedWithoutGap
                ? LockClock.deadline(sent, timeout.minus(reportInterval))
                : LockClock.deadline(knownToLeader.sent, timeout);
    }

    /**
     * Returns whether an extra request should follow after {@link #reportInterval}, because the latest one came after a gap and
     * did not prove ¾ T.
     */
    synchronized boolean needsFollowUp() {
        return !reportedWithoutGap;
    }

    /** Returns the longest time between two reports of a follower: half a tick, where the timeout is at least two ticks. */
    Duration reportInterval() {
        return reportInterval;
    }
}
