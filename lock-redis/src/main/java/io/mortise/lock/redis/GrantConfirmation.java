// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides when an acknowledged grant counts: enough replicas have it, and a majority of sentinels names its server. */
final class GrantConfirmation {
    private final RedisConnections link;

    GrantConfirmation(RedisConnections link) {
        this.link = link;
    }

    /** Callback with the result of a check. */
    interface ResultHandler {
        /**
         * Called once.
         *
         * @param countsFrom when the oldest request was sent that the deadline rests on; meaningless after a failure
         * @param failure null if the grant counts
         */
        void checked(MonotonicTime countsFrom, @Nullable LockException failure);
    }

    /** Returns whether an acknowledged write counts without further questions. */
    boolean isNone(RedisNodeClient node) {
        return !node.replication().required() && link.sentinels().isEmpty();
    }

    /** Asks the sentinels ahead, so that their answer comes along with the server's. */
    void prepare(RedisNodeClient node, Duration lease) {
        link.sentinels().ifPresent(sentinels -> sentinels.named(node, lease));
    }

    /** Returns a grant that was handed off with the deadline that it has; empty if that is too soon, or not known. */
    Optional<HandOffDeadlineCalculator.Grant> bounded(
            HandOffDeadlineCalculator.Grant grant, RedisNodeClient node, Duration lease, LockClock clock) {
        if (link.sentinels().isEmpty()) {
            return Optional.of(grant);
        }
        prepare(node, lease);
        Optional<MonotonicTime> named = link.sentinels().get().lastNamed(node.epoch());
        if (named.isEmpty()) {
            return Optional.empty();
        }
        MonotonicTime validUntil = LockClock.deadline(named.get(), lease).orEarlier(grant.validUntil());
        return clock.until(validUntil).compareTo(Durations.divide(lease, 2)) < 0
                ? Optional.empty()
                : Optional.of(new HandOffDeadlineCalculator.Grant(grant.token(), validUntil));
    }

    /**
     * Checks what the server has just acknowledged.
     *
     * @param until when replicas are no longer waited for
     */
    void check(RedisNodeClient node, MonotonicTime sent, MonotonicTime until, Duration lease, ResultHandler handler) {
        int epoch = node.epoch();
        if (link.sentinels().isEmpty()) {
            replicas(node, epoch, sent, until, handler);
            return;
        }
        link.sentinels().get().named(node, lease).whenComplete((named, failure) -> {
            if (failure == null) {
                replicas(node, epoch, named.orEarlier(sent), until, handler);
            } else {
                handler.checked(sent, RedisErrors.of(failure, "the sentinels' answer", link.endpoints()));
            }
        });
    }

    private static void replicas(
            RedisNodeClient node, int epoch, MonotonicTime countsFrom, MonotonicTime until, ResultHandler handler) {
        if (node.replication().required()) {
            node.replication().await(epoch, until, failure -> handler.checked(countsFrom, failure));
        } else {
            handler.checked(countsFrom, null);
        }
    }
}
