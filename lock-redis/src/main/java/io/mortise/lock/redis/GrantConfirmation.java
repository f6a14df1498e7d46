// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Confirms a grant once enough replicas have stored it and a majority of sentinels names its server as the master. */
final class GrantConfirmation {
    private final RedisConnectionRouter connections;

    GrantConfirmation(RedisConnectionRouter connections) {
        this.connections = connections;
    }

    /** Callback that receives the result of one confirmation. */
    interface ResultHandler {
        /**
         * Called once.
         *
         * @param countsFrom when the oldest request that the grant's deadline is based on was sent; meaningless after a failure
         * @param failure null if the grant counts
         */
        void checked(MonotonicInstant countsFrom, @Nullable LockException failure);
    }

    /** Returns whether an acknowledged write counts without a confirmation. */
    boolean isUnneeded(RedisNodeClient node) {
        return !node.replication().required() && connections.sentinels().isEmpty();
    }

    /** Queries the sentinels in advance, so that their replies arrive at about the same time as the server's. */
    void prepare(RedisNodeClient node, Duration lease) {
        connections.sentinels().ifPresent(sentinels -> sentinels.confirm(node, lease));
    }

    /**
     * Returns a handed-off grant with the deadline that the sentinels' last confirmation allows; empty if that deadline is too
     * soon or not known.
     */
    Optional<HandOffValidityCalculator.Grant> bounded(
            HandOffValidityCalculator.Grant grant, RedisNodeClient node, Duration lease, LockClock clock) {
        if (connections.sentinels().isEmpty()) {
            return Optional.of(grant);
        }
        prepare(node, lease);
        Optional<MonotonicInstant> named = connections.sentinels().get().lastConfirmed(node.epoch());
        if (named.isEmpty()) {
            return Optional.empty();
        }
        MonotonicInstant validUntil = LockClock.deadline(named.get(), lease).orEarlier(grant.validUntil());
        return clock.until(validUntil).compareTo(Durations.divide(lease, 2)) < 0
                ? Optional.empty()
                : Optional.of(new HandOffValidityCalculator.Grant(grant.token(), validUntil));
    }

    /**
     * Confirms a grant that the server has just acknowledged.
     *
     * @param until when to stop waiting for replicas
     */
    void check(
            RedisNodeClient node,
            MonotonicInstant sent,
            MonotonicInstant until,
            Duration lease,
            ResultHandler handler) {
        int epoch = node.epoch();
        if (connections.sentinels().isEmpty()) {
            replicas(node, epoch, sent, until, handler);
            return;
        }
        connections.sentinels().get().confirm(node, lease).whenComplete((named, failure) -> {
            if (failure == null) {
                replicas(node, epoch, named.orEarlier(sent), until, handler);
            } else {
                handler.checked(sent, RedisErrors.of(failure, "the query to the sentinels", connections.endpoints()));
            }
        });
    }

    private static void replicas(
            RedisNodeClient node,
            int epoch,
            MonotonicInstant countsFrom,
            MonotonicInstant until,
            ResultHandler handler) {
        if (node.replication().required()) {
            node.replication().await(epoch, until, failure -> handler.checked(countsFrom, failure));
        } else {
            handler.checked(countsFrom, null);
        }
    }
}
