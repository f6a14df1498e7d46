// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** First requests on a new connection: subscribes, and checks what the server supports. */
final class ConnectionHandshake {
    /** The first Redis with channels of a slot. */
    private static final int SHARDS_SINCE = 7;

    private final RedisPubSubAsyncCommands<String, String> commands;
    private final String channel;
    private final String endpoints;
    private final LockClock clock;

    /**
     * What the server replied.
     *
     * @param sent when the server was asked for its time
     * @param time the time that it told
     * @param sharded whether it knows SPUBLISH, as far as it tells
     */
    record ServerReply(MonotonicTime sent, ServerTime time, boolean sharded) {}

    /** @param channel that this connection listens to from its start */
    ConnectionHandshake(
            RedisPubSubAsyncCommands<String, String> commands, String channel, String endpoints, LockClock clock) {
        this.commands = commands;
        this.channel = channel;
        this.endpoints = endpoints;
        this.clock = clock;
    }

    /** Fails with what the server refuses. */
    CompletionStage<ServerReply> exchange(boolean inCluster) {
        return commands.subscribe(channel)
                .thenCompose(listening -> commands.pubsubNumsub(channel))
                .thenAccept(listeners -> requireCount(listeners, endpoints))
                .thenCompose(ok -> inCluster ? sharded() : CompletableFuture.completedFuture(false))
                .thenCompose(this::time);
    }

    /** A hand-off asks who listens: who is not counted would never get the lock. */
    static void requireCount(Map<String, Long> listeners, String endpoints) {
        if (listeners.values().stream().mapToLong(Long::longValue).sum() == 0) {
            throw new BackendUnavailableException("PUBSUB NUMSUB at " + endpoints
                    + " does not count who listens on the same connection: is there a proxy in between?");
        }
    }

    /** Who may not ask for the version does not use them. Who does must be allowed to count: each release asks. */
    private CompletionStage<Boolean> sharded() {
        return commands.info("server")
                .exceptionally(forbidden -> "")
                .thenCompose(info -> version(info) < SHARDS_SINCE
                        ? CompletableFuture.completedFuture(false)
                        : commands.pubsubShardNumsub(channel).thenApply(counted -> true));
    }

    private static int version(String info) {
        return ServerInfo.field(info, "redis_version")
                .map(version -> Integer.parseInt(version.replaceFirst("\\D.*", "")))
                .orElse(0);
    }

    private CompletionStage<ServerReply> time(boolean sharded) {
        MonotonicTime sent = clock.now();
        return commands.time().thenApply(now -> new ServerReply(sent, ServerTime.of(now), sharded));
    }
}
