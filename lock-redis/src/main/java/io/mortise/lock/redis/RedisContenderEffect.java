// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockException;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;

/** Something to do for one contender after an event: send a request, answer the core, or start a timer. */
sealed interface RedisContenderEffect {
    /** Send an acquire. Leads to a reply or to {@link RedisContenderEvent.AcquireFailed}. */
    record SendAcquire() implements RedisContenderEffect {}

    /**
     * Compute until when a grant is valid that was handed off after a "busy" reply on the same connection. Leads to
     * {@link RedisContenderEvent.HandOffUsable} or {@link RedisContenderEvent.HandOffUnusable}.
     */
    record CheckHandOff(RedisContenderState.Queued after, RedisContenderEvent.HandedOff handOff)
            implements RedisContenderEffect {}

    /**
     * Have replicas and sentinels confirm a grant. Leads to {@link RedisContenderEvent.Confirmed} or
     * {@link RedisContenderEvent.NotConfirmed}.
     *
     * @param sent when the request for it was sent
     */
    record Confirm(MonotonicInstant sent) implements RedisContenderEffect {}

    /** Complete the attempt with a grant. */
    record ReportGranted(long token, MonotonicInstant validUntil) implements RedisContenderEffect {}

    /** Complete the attempt without a grant; the core tries again when this time has passed, if it is known. */
    record ReportBusy(long remainingMillis) implements RedisContenderEffect {}

    /** Fail the attempt. */
    record FailAttempt(LockException cause) implements RedisContenderEffect {}

    /** Fail the attempt, because the server refused each of its requests as late. */
    record FailLateAttempt() implements RedisContenderEffect {}

    /** Tell the core to make another attempt. */
    record WakeWaiter() implements RedisContenderEffect {}

    /**
     * Send a removal. Leads to {@link RedisContenderEvent.Removed} or {@link RedisContenderEvent.RemovalFailed}.
     *
     * @param withTime whether the reply must contain the server's time
     */
    record SendRemoval(boolean withTime) implements RedisContenderEffect {}

    /** Send a removal that serves the waiters only, and whose outcome nobody awaits: they try again by themselves. */
    record SendSweep() implements RedisContenderEffect {}

    /** Send a delayed release. Leads to {@link RedisContenderEvent.Delayed} or {@link RedisContenderEvent.DelayFailed}. */
    record SendDelayedRelease(Duration delay) implements RedisContenderEffect {}

    /** Complete the release or the withdrawal. */
    record ReportEnded(boolean existed) implements RedisContenderEffect {}

    /** Fail the release or the withdrawal. */
    record FailEnd(LockException cause) implements RedisContenderEffect {}

    /** Fail the delayed release, because an earlier acquire may still extend the grant. */
    record FailDelayInDoubt() implements RedisContenderEffect {}

    /** Dispatch no more messages to this contender. */
    record Unregister() implements RedisContenderEffect {}

    /** Repeat the removal in the background, until a try is complete. Leads to {@link RedisContenderEvent.CleanupDue}. */
    record StartCleanup() implements RedisContenderEffect {}

    /** Complete a try of the cleanup: no request can be executed any more. */
    record CompleteCleanup() implements RedisContenderEffect {}

    /** Fail a try of the cleanup: a request may still be executed. */
    record RepeatCleanup() implements RedisContenderEffect {}

    /** Fail a try of the cleanup, whose request has failed. */
    record FailCleanup(LockException cause) implements RedisContenderEffect {}

    /** Start the time in which the queue entry expires. Leads to {@link RedisContenderEvent.Expired}. */
    record AwaitExpiry() implements RedisContenderEffect {}

    /** Log that an abandoned contender could not be withdrawn. */
    record LogQueueEntryLeft(LockException cause) implements RedisContenderEffect {}
}
