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

/**
 * Wraps the single connection to a Redis server, and assigns a new epoch number after each disconnect. Lettuce reconnects it.
 * Each connection to any server has another epoch number.
 */
final class NodeConnection implements RedisConnectionStateListener {
    private static final AtomicInteger EPOCHS = new AtomicInteger();

    private final boolean inCluster;
    private final Consumer<RedisException> onLost;
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> opened;
    private volatile int epoch = EPOCHS.incrementAndGet();
    private volatile boolean connected;
    private volatile @Nullable Executor offChannel;

    /** @param onLost called on the I/O thread when the connection was lost and the next epoch has begun */
    NodeConnection(boolean inCluster, Consumer<RedisException> onLost) {
        this.inCluster = inCluster;
        this.onLost = onLost;
    }

    /** Takes over an opened connection and adds the listener for its messages. */
    void use(StatefulRedisPubSubConnection<String, String> connection, RedisPubSubListener<String, String> listener) {
        opened = connection;
        connected = true;
        connection.addListener(this);
        connection.addListener(listener);
    }

    /** Returns the connection; null until {@link #use}. */
    @Nullable
    StatefulRedisPubSubConnection<String, String> ifOpened() {
        return opened;
    }

    /** Returns the connection, which must have been opened. */
    StatefulRedisPubSubConnection<String, String> opened() {
        return Objects.requireNonNull(opened);
    }

    int epoch() {
        return epoch;
    }

    /** Returns an executor with a single thread that is not the channel's. */
    Executor offChannel() {
        Executor known = offChannel;
        if (known == null) {
            known = opened().getResources().eventExecutorGroup().next();
            offChannel = known;
        }
        return known;
    }

    boolean isConnected() {
        return connected;
    }

    /** Records the first message on a connection; returns whether the connection was marked as lost before. */
    boolean onFirstMessage() {
        boolean again = !connected;
        connected = true;
        return again;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
        epoch = EPOCHS.incrementAndGet();
        connected = false;
        onLost.accept(new RedisException("the connection was lost"));
    }

    /** Drops the connection, which Lettuce then opens again. */
    void drop() {
        if (!(opened instanceof RedisChannelHandler<?, ?> handler)) {
            return;
        }
        RedisChannelWriter writer = handler.getChannelWriter();
        Object endpoint = writer instanceof Delegating<?> wrapped ? wrapped.unwrap() : writer;
        if (endpoint instanceof DefaultEndpoint droppable) {
            droppable.disconnect();
        }
    }

    /** Gives up the connection: removes the listeners, and closes or drops it. */
    void abandon(RedisPubSubListener<String, String> listener) {
        StatefulRedisPubSubConnection<String, String> connection = opened;
        if (connection == null) {
            return;
        }
        connection.removeListener(listener);
        connection.removeListener(this);
        connected = false;
        if (inCluster) {
            drop(); // see discard
        } else {
            discard(connection);
        }
    }

    /**
     * Closes a connection outside a cluster. In a cluster Lettuce caches it for the next caller, which could not use it
     * closed.
     */
    void discard(StatefulRedisPubSubConnection<String, String> connection) {
        if (!inCluster) {
            connection.closeAsync();
        }
    }

    CompletableFuture<Void> close() {
        StatefulRedisPubSubConnection<String, String> connection = opened;
        return connection == null ? CompletableFuture.completedFuture(null) : connection.closeAsync();
    }
}
