// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockException;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;

/** Something that happens to one contender: a call of the core, the outcome of a request, a message, or a timer. */
sealed interface RedisContenderEvent {
    /**
     * The core requests the grant.
     *
     * @param epoch the epoch of the present connection to the server that has the lock
     */
    record Attempt(int epoch) implements RedisContenderEvent {}

    /** The core ends the contender: a release, or a withdrawal. */
    record End() implements RedisContenderEvent {}

    /** The core releases the grant with a delay. */
    record EndAfter(Duration delay) implements RedisContenderEvent {}

    /** The core gives up a removal that has failed for a whole lease. */
    record Abandon() implements RedisContenderEvent {}

    /** The reply to a request, on the connection of this epoch, with the server's time. */
    sealed interface Reply extends RedisContenderEvent {
        int epoch();

        /** Returns the server's time; {@link ServerTime#UNKNOWN} if the reply contained none. */
        ServerTime time();
    }

    /**
     * Reply to an acquire: the lock is granted.
     *
     * @param sent when the request was sent
     * @param validUntil until when the grant is certainly valid, unless replicas and sentinels must confirm it
     * @param needsConfirmation whether they must
     */
    record Granted(
            int epoch,
            ServerTime time,
            long token,
            MonotonicInstant sent,
            MonotonicInstant validUntil,
            boolean needsConfirmation)
            implements Reply {}

    /** Reply to an acquire: the lock is granted with a token that must not be used, for this reason. */
    record GrantedUnusable(int epoch, ServerTime time, LockException why) implements Reply {}

    /**
     * Reply to an acquire: another attempt holds the lock or comes first.
     *
     * @param sent when the request was sent
     * @param queued whether this attempt is queued now
     * @param remainingMillis the time until the present grant expires; negative if unknown
     */
    record Busy(int epoch, ServerTime time, MonotonicInstant sent, boolean queued, long remainingMillis)
            implements Reply {}

    /** Reply to an acquire: the server refused it, because it came too late. */
    record Late(int epoch, ServerTime time) implements Reply {}

    /**
     * An acquire had no reply, or the reply was an error.
     *
     * @param notExecuted whether it certainly was not executed and will not be
     * @param epoch the epoch before it was sent
     * @param notAfter the server's time after which the server refuses it
     */
    record AcquireFailed(boolean notExecuted, int epoch, ServerTime notAfter, LockException cause)
            implements RedisContenderEvent {}

    /** Replicas and sentinels have confirmed the grant, which is valid until then. */
    record Confirmed(MonotonicInstant validUntil) implements RedisContenderEvent {}

    /** Replicas or sentinels have not confirmed the grant, so it does not count. */
    record NotConfirmed(LockException why) implements RedisContenderEvent {}

    /** The grant that was handed off is certainly valid until then. */
    record HandOffUsable(MonotonicInstant validUntil) implements RedisContenderEvent {}

    /** It is not certain until when the grant that was handed off is valid, or not for long enough. */
    record HandOffUnusable() implements RedisContenderEvent {}

    /** The server or the connection suggests another attempt. */
    sealed interface Hint extends RedisContenderEvent {}

    /**
     * A message that the lock was handed off to this attempt.
     *
     * @param epoch the epoch of the connection on which the message came
     * @param time the server's time of the hand-off
     * @param arrived when the message arrived
     */
    record HandedOff(int epoch, long token, ServerTime time, MonotonicInstant arrived) implements Hint {}

    /** A message that the lock is free for this attempt, or a connection on which earlier messages may have been lost. */
    record Woken() implements Hint {}

    /**
     * Reply to a removal.
     *
     * @param held whether the attempt held the lock
     * @param queued whether it was queued
     */
    record Removed(int epoch, ServerTime time, boolean held, boolean queued) implements Reply {}

    /**
     * A removal had no reply, or the reply was an error.
     *
     * @param notExecuted whether it certainly was not executed and will not be
     */
    record RemovalFailed(boolean notExecuted, LockException cause) implements RedisContenderEvent {}

    /**
     * Reply to a delayed release.
     *
     * @param kept whether the attempt held the lock, so that the server keeps it for the delay
     */
    record Delayed(int epoch, ServerTime time, boolean kept) implements Reply {}

    /** A delayed release had no reply, or the reply was an error. */
    record DelayFailed(LockException cause) implements RedisContenderEvent {}

    /** It is time to repeat the removal. */
    record CleanupDue() implements RedisContenderEvent {}

    /** The queue entry and the grant of an abandoned contender have expired. */
    record Expired() implements RedisContenderEvent {}
}
