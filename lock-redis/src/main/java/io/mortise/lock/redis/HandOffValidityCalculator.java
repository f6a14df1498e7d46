// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Computes until when, by the local clock, a grant that was handed off to a waiter is certainly valid, from two timestamps of
 * the server: those of its last "busy" reply to the waiter and of the hand-off. See ADR 0017. Thread-safe.
 */
final class HandOffValidityCalculator {
    private volatile @Nullable BusyReply lastBusy;
    private final AtomicReference<@Nullable ReceivedGrant> received = new AtomicReference<>();

    /** The last "busy" reply, with the local time of its request and the server's time of the reply. */
    private record BusyReply(int epoch, MonotonicInstant sent, ServerTime server) {}

    /** A hand-off message and the local time of its arrival. */
    private record ReceivedGrant(GrantMessage.Granted grant, int epoch, MonotonicInstant arrived) {}

    /** A handed-off grant and the deadline until which it is certainly valid. */
    record Grant(long token, MonotonicInstant validUntil) {}

    /** Records that the server replied "busy". */
    void onBusy(int epoch, MonotonicInstant sent, ServerTime server) {
        received.set(null); // the reply supersedes an earlier message on the same connection
        lastBusy = new BusyReply(epoch, sent, server);
    }

    /** Records a message that the lock was handed off to this waiter. */
    void onHandOff(GrantMessage.Granted grant, int epoch, MonotonicInstant arrived) {
        received.set(new ReceivedGrant(grant, epoch, arrived));
    }

    /**
     * Returns the grant of the last message, at most once, if it is valid without another request. That needs the reply and the
     * message to have come on the present connection. Otherwise the message is only a hint. It also is one if half of the lease
     * has passed, or if the server's clock was set in between: the next request then renews the grant.
     */
    Optional<Grant> collect(RedisNodeClient node, Duration lease, MonotonicInstant now) {
        ReceivedGrant message = received.getAndSet(null);
        BusyReply busy = lastBusy;
        if (message == null
                || busy == null
                || node.replication().required()
                || busy.epoch != message.epoch
                || !RedisContender.isPlausible(message.grant.token())
                || message.grant.time().isBefore(busy.server)
                || message.epoch != node.epoch()) {
            return Optional.empty();
        }
        MonotonicInstant handedOff = ServerClock.noLaterThan(busy.sent, busy.server, message.grant.time());
        MonotonicInstant validUntil = LockClock.deadline(handedOff, lease);
        boolean clockWasSet = handedOff.isAfter(message.arrived);
        return clockWasSet || validUntil.isBefore(now.plus(Durations.divide(lease, 2)))
                ? Optional.empty()
                : Optional.of(new Grant(message.grant.token(), validUntil));
    }
}
