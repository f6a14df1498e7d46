// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockException;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;

/** Something to do for one contender after an event: send a request, answer the core, or start a timer. */
sealed interface RedisContenderEffect {
    /** The effects without data. */
    enum Plain implements RedisContenderEffect {
        /** Send an acquire. Leads to a reply or to {@link RedisContenderEvent.AcquireFailed}. */
        SEND_ACQUIRE,

        /** Fail the attempt, because the server refused each of its requests as late. */
        FAIL_LATE_ATTEMPT,

        /** Complete the attempt without a grant: the core needs a new contender. */
        REPORT_DISPLACED,

        /** Tell the core to make another attempt. */
        WAKE_WAITER,

        /** Dispatch no more messages to this contender. */
        UNREGISTER,

        /** Repeat the removal in the background, until a try is complete. Leads to {@link RedisContenderEvent.CleanupDue}. */
        START_CLEANUP,

        /** Complete a try of the cleanup: no acquire can be executed any more. */
        COMPLETE_CLEANUP,

        /** Fail a try of the cleanup: an acquire may still be executed. */
        REPEAT_CLEANUP,

        /** Start the time in which a queue entry expires. Leads to {@link RedisContenderEvent.Expired}. */
        AWAIT_EXPIRY
    }

    /**
     * Compute until when a grant is valid that was handed off after a "busy" reply on the same connection. Leads to
     * {@link RedisContenderEvent.HandOffUsable} or {@link RedisContenderEvent.HandOffUnusable}.
     */
    record CheckHandOff(RedisContenderState.Queued queued, RedisContenderEvent.HandedOff handOff)
            implements RedisContenderEffect {}

    /**
     * Have replicas and sentinels confirm a grant. Leads to {@link RedisContenderEvent.Confirmed} or
     * {@link RedisContenderEvent.NotConfirmed}.
     *
     * @param epoch the epoch of the connection on which the reply came
     * @param sent when the request for it was sent
     */
    record Confirm(int epoch, MonotonicInstant sent) implements RedisContenderEffect {}

    /** Complete the attempt with a grant. */
    record ReportGranted(long token, MonotonicInstant validUntil) implements RedisContenderEffect {}

    /** Complete the attempt without a grant; the present one expires after this time, if it is not negative. */
    record ReportBusy(long remainingMillis) implements RedisContenderEffect {}

    /** Fail the attempt. */
    record FailAttempt(LockException cause) implements RedisContenderEffect {}

    /**
     * Send a removal. Leads to {@link RedisContenderEvent.Removed} or {@link RedisContenderEvent.RemovalFailed}.
     *
     * @param withTime whether the reply must contain the server's time
     */
    record SendRemoval(boolean withTime) implements RedisContenderEffect {}

    /**
     * Send a delayed release. Leads to {@link RedisContenderEvent.Delayed} or {@link RedisContenderEvent.DelayFailed}.
     *
     * @param token the token of the grant to release
     */
    record SendDelayedRelease(Duration delay, long token) implements RedisContenderEffect {}

    /** Complete the release or the withdrawal with whether there was a grant or a queue entry. */
    record ReportEnded(boolean existed) implements RedisContenderEffect {}

    /** Fail the release or the withdrawal. */
    record FailEnd(LockException cause) implements RedisContenderEffect {}

    /** Fail a try of the cleanup, whose request has failed. */
    record FailCleanup(LockException cause) implements RedisContenderEffect {}
}
