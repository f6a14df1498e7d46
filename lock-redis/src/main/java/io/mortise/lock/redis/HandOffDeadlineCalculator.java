// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Computes the deadline of a grant that the server handed off: by how much later than the waiter's last request (ADR 0017).
 * Thread-safe.
 */
final class HandOffDeadlineCalculator {
    private volatile @Nullable Standing standing;
    private final AtomicReference<@Nullable Pushed> pushed = new AtomicReference<>();

    /** The server answered "busy": when that was asked on our clock, and when it was answered on the server's. */
    private record Standing(int epoch, MonotonicTime sent, ServerTime server) {}

    /** What a message said, and when it arrived. */
    private record Pushed(GrantMessage.Granted grant, int epoch, MonotonicTime arrived) {}

    /** It can be collected. */
    record Grant(long token, MonotonicTime validUntil) {}

    /** We were told to wait. */
    void confirmed(int epoch, MonotonicTime sent, ServerTime server) {
        pushed.set(null); // what was said before, on the same connection, no longer counts
        standing = new Standing(epoch, sent, server);
    }

    /** We were told that it is ours. */
    void told(GrantMessage.Granted grant, int epoch, MonotonicTime arrived) {
        pushed.set(new Pushed(grant, epoch, arrived));
    }

    /**
     * It is valid without asking if both came on the present connection. Otherwise the message was a hint, and so it is
     * when half of the lease has ended, or the server's clock was set in between: asking renews. Once for each message.
     */
    Optional<Grant> collect(RedisNodeClient node, Duration lease, MonotonicTime now) {
        Pushed message = pushed.getAndSet(null);
        Standing told = standing;
        if (message == null
                || told == null
                || node.replication().required()
                || told.epoch != message.epoch
                || !RedisContender.isPlausible(message.grant.token())
                || message.grant.time().isBefore(told.server)
                || message.epoch != node.epoch()) {
            return Optional.empty();
        }
        MonotonicTime handedOff = ServerClock.noLaterThan(told.sent, told.server, message.grant.time());
        MonotonicTime validUntil = LockClock.deadline(handedOff, lease);
        boolean clockWasSet = handedOff.isAfter(message.arrived);
        return clockWasSet || validUntil.isBefore(now.plus(Durations.divide(lease, 2)))
                ? Optional.empty()
                : Optional.of(new Grant(message.grant.token(), validUntil));
    }
}
