// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
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
        connections.sentinels().ifPresent(sentinels -> sentinels.confirm(node, node.epoch(), lease));
    }

    /**
     * Returns the deadline of a handed-off grant that the replicas and the sentinels' last confirmation allow; empty if it is too
     * soon or not known.
     *
     * @param epoch the epoch of the connection on which the grant was announced
     */
    Optional<MonotonicInstant> bounded(
            MonotonicInstant validUntil, RedisNodeClient node, int epoch, Duration lease, MonotonicInstant now) {
        if (node.replication().required()) {
            return Optional.empty();
        }
        if (connections.sentinels().isEmpty()) {
            return Optional.of(validUntil);
        }
        prepare(node, lease);
        return connections
                .sentinels()
                .get()
                .lastConfirmed(epoch)
                .map(named -> LockClock.deadline(named, lease).orEarlier(validUntil))
                .filter(bounded -> HandOffValidityCalculator.isLongEnough(bounded, lease, now));
    }

    /**
     * Confirms a grant that the server has just acknowledged. What another connection confirms does not count: it may lead
     * to another server, which does not have the grant.
     *
     * @param epoch the epoch of the connection on which the server acknowledged it
     * @param until when to stop waiting for replicas
     */
    void check(
            RedisNodeClient node,
            int epoch,
            MonotonicInstant sent,
            MonotonicInstant until,
            Duration lease,
            ResultHandler handler) {
        if (connections.sentinels().isEmpty()) {
            replicas(node, epoch, sent, until, handler);
            return;
        }
        connections.sentinels().get().confirm(node, epoch, lease).whenComplete((named, failure) -> {
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
        } else if (node.epoch() != epoch) {
            handler.checked(
                    countsFrom,
                    new BackendUnavailableException(
                            "the connection to " + node.endpoints() + " was lost before the grant was confirmed"));
        } else {
            handler.checked(countsFrom, null);
        }
    }
}
