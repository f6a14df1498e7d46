// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Computes the deadline of a grant that the server handed off: by how much later than the waiter's last request (ADR 0017).
 * Thread-safe.
 */
final class HandedOffGrant {
    private volatile @Nullable Standing standing;
    private final AtomicReference<@Nullable Pushed> pushed = new AtomicReference<>();

    /** The server answered "busy": when that was asked on our clock, and when it was answered on the server's. */
    private record Standing(int epoch, long sentNanos, long serverMicros) {}

    /** What a message said, and when it arrived. */
    private record Pushed(GrantMessage.Granted grant, int epoch, long arrivedNanos) {}

    /** It can be collected. */
    record Grant(long token, long validUntil) {}

    /** We were told to wait. */
    void confirmed(int epoch, long sentNanos, long serverMicros) {
        pushed.set(null); // what was said before, on the same connection, is over
        standing = new Standing(epoch, sentNanos, serverMicros);
    }

    /** We were told that it is ours. */
    void told(GrantMessage.Granted grant, int epoch, long arrivedNanos) {
        pushed.set(new Pushed(grant, epoch, arrivedNanos));
    }

    /**
     * It is valid without asking if both came on the present connection. Otherwise the message was a hint, and so it is
     * when half of the lease has ended, or the server's clock was set in between: asking renews. Once for each message.
     */
    Optional<Grant> collect(RedisNode node, Duration lease, long nowNanos) {
        Pushed message = pushed.getAndSet(null);
        Standing told = standing;
        if (message == null
                || told == null
                || node.replication().required()
                || told.epoch != message.epoch
                || !RedisContender.isPlausible(message.grant.token())
                || message.grant.serverMicros() < told.serverMicros
                || message.epoch != node.epoch()) {
            return Optional.empty();
        }
        long handedOn = ServerClock.noLaterThan(told.sentNanos, told.serverMicros, message.grant.serverMicros());
        long validUntil = LockClock.deadline(handedOn, lease);
        boolean clockWasSet = handedOn - message.arrivedNanos > 0;
        return clockWasSet || validUntil - nowNanos < lease.toNanos() / 2
                ? Optional.empty()
                : Optional.of(new Grant(message.grant.token(), validUntil));
    }
}
