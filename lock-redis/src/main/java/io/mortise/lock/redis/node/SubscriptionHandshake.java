// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.connect.ServerModeCheck;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Subscribes a new connection to the client's channel, and checks which features the server supports. */
final class SubscriptionHandshake {
    /** The first Redis version with sharded channels. */
    private static final int SHARDED_SINCE = 7;

    private final RedisPubSubAsyncCommands<String, String> commands;
    private final String channel;
    private final String endpoints;
    private final LockClock clock;

    /**
     * The server's reply to the handshake.
     *
     * @param sent when the request for the server's time was sent
     * @param time the server's time
     * @param sharded whether the server is known to support SPUBLISH
     */
    record ServerReply(MonotonicInstant sent, ServerTime time, boolean sharded) {}

    /** @param channel the channel to which the connection is subscribed first */
    SubscriptionHandshake(
            RedisPubSubAsyncCommands<String, String> commands, String channel, String endpoints, LockClock clock) {
        this.commands = commands;
        this.channel = channel;
        this.endpoints = endpoints;
        this.clock = clock;
    }

    /** Performs the handshake; fails with the error of the first request that the server refuses. */
    CompletionStage<ServerReply> exchange(boolean inCluster) {
        try {
            ServerModeCheck.requireLockServer(commands.getStatefulConnection(), inCluster, endpoints);
        } catch (BackendRefusedException e) {
            return CompletableFuture.failedFuture(e);
        }
        return commands.subscribe(channel)
                .thenCompose(listening -> commands.pubsubNumsub(channel))
                .thenAccept(listeners -> requireCount(listeners, endpoints))
                .thenCompose(ok -> inCluster ? sharded() : CompletableFuture.completedFuture(false))
                .thenCompose(this::time);
    }

    /** Fails if the server does not count this subscriber: a hand-off would pass over its waiters. */
    static void requireCount(Map<String, Long> listeners, String endpoints) {
        if (listeners.values().stream().mapToLong(Long::longValue).sum() == 0) {
            throw new BackendUnavailableException("PUBSUB NUMSUB at " + endpoints
                    + " does not count the subscriber on the same connection: connect to the server without a proxy");
        }
    }

    /**
     * Returns whether to use sharded channels. A user that may not read the server's version does not use them. One that uses
     * them must be allowed to count their subscribers, as each release does.
     */
    private CompletionStage<Boolean> sharded() {
        return commands.info("server")
                .exceptionally(forbidden -> "")
                .thenCompose(info -> version(info) < SHARDED_SINCE
                        ? CompletableFuture.completedFuture(false)
                        : commands.pubsubShardNumsub(channel).thenApply(counted -> true));
    }

    private static int version(String info) {
        return ServerInfo.field(info, "redis_version")
                .map(version -> version.replaceFirst("\\D.*", ""))
                .filter(number -> !number.isEmpty())
                .map(Integer::parseInt)
                .orElse(0);
    }

    private CompletionStage<ServerReply> time(boolean sharded) {
        MonotonicInstant sent = clock.now();
        return commands.time().thenApply(now -> new ServerReply(sent, ServerTime.of(now), sharded));
    }
}
