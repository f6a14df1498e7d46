// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.Delegating;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The one connection of a node, which Lettuce opens again when it is lost, and its epochs. */
final class NodeConnection implements RedisConnectionStateListener {
    private static final AtomicInteger EPOCHS = new AtomicInteger();

    private final boolean inCluster;
    private final Consumer<RedisException> lost;
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> made;
    private volatile int epoch = EPOCHS.incrementAndGet();
    private volatile boolean connected;
    private volatile @Nullable Executor elsewhere;

    /** @param lost told on the I/O thread, in the next epoch */
    NodeConnection(boolean inCluster, Consumer<RedisException> lost) {
        this.inCluster = inCluster;
        this.lost = lost;
    }

    void use(StatefulRedisPubSubConnection<String, String> connection, RedisPubSubListener<String, String> hears) {
        made = connection;
        connected = true;
        connection.addListener(this);
        connection.addListener(hears);
    }

    /** Empty until {@link #use}. */
    @Nullable
    StatefulRedisPubSubConnection<String, String> ifMade() {
        return made;
    }

    StatefulRedisPubSubConnection<String, String> made() {
        return Objects.requireNonNull(made);
    }

    int epoch() {
        return epoch;
    }

    /** One thread, not that of the channel. */
    Executor elsewhere() {
        Executor known = elsewhere;
        if (known == null) {
            known = made().getResources().eventExecutorGroup().next();
            elsewhere = known;
        }
        return known;
    }

    boolean isConnected() {
        return connected;
    }

    /** As its first message says. True if it did not before. */
    boolean reconnected() {
        boolean again = !connected;
        connected = true;
        return again;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
        epoch = EPOCHS.incrementAndGet();
        connected = false;
        lost.accept(new RedisException("the connection was lost"));
    }

    /** Lettuce makes it anew. */
    void drop() {
        if (!(made instanceof RedisChannelHandler<?, ?> handler)) {
            return;
        }
        RedisChannelWriter writer = handler.getChannelWriter();
        Object endpoint = writer instanceof Delegating<?> wrapped ? wrapped.unwrap() : writer;
        if (endpoint instanceof DefaultEndpoint own) {
            own.disconnect();
        }
    }

    /** It is of no use to us any more. */
    void leave(RedisPubSubListener<String, String> hears) {
        StatefulRedisPubSubConnection<String, String> connection = made;
        if (connection == null) {
            return;
        }
        connection.removeListener(hears);
        connection.removeListener(this);
        connected = false;
        if (inCluster) {
            drop(); // see discard
        } else {
            discard(connection);
        }
    }

    /** In a cluster Lettuce keeps it, and gives it to who asks next: closed, it would be of no use for good. */
    void discard(StatefulRedisPubSubConnection<String, String> connection) {
        if (!inCluster) {
            connection.closeAsync();
        }
    }

    CompletableFuture<Void> close() {
        StatefulRedisPubSubConnection<String, String> connection = made;
        return connection == null ? CompletableFuture.completedFuture(null) : connection.closeAsync();
    }
}
