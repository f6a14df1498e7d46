// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A Lettuce client without the blocking API, which Mortise never uses. Lettuce builds that API at the first connection as a
 * proxy class with a thousand methods, which takes more processor time than everything else until the first reply.
 */
public final class AsyncOnlyRedisClient extends RedisClient {
    AsyncOnlyRedisClient(ClientResources resources) {
        super(resources, new RedisURI());
        addListener(new RemoteAddresses());
    }

    @Override
    protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
            PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
        return new AsyncOnlyConnection<>(endpoint, writer, codec, timeout);
    }

    @Override
    protected Mono<SocketAddress> getSocketAddress(RedisURI uri) {
        Supplier<? extends CompletionStage<SocketAddress>> lookup =
                uri instanceof MasterLookupRedisUri withLookup ? withLookup.lookup() : null;
        return lookup == null ? super.getSocketAddress(uri) : Mono.fromCompletionStage(lookup);
    }

    private static final class AsyncOnlyConnection<K, V> extends StatefulRedisPubSubConnectionImpl<K, V> {
        private volatile @Nullable SocketAddress remote;

        AsyncOnlyConnection(
                PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
            super(endpoint, writer, codec, timeout);
        }

        @Override
        protected @Nullable RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
            return null;
        }
    }

    /** Returns the server's address of a connection of such a client, if the connection is established. */
    public static Optional<SocketAddress> remoteAddress(StatefulRedisPubSubConnection<?, ?> connection) {
        return connection instanceof AsyncOnlyConnection<?, ?> asyncOnly
                ? Optional.ofNullable(asyncOnly.remote)
                : Optional.empty();
    }

    /** Listener that updates the server's address of a connection before the connection's own listeners are called. */
    private static final class RemoteAddresses implements RedisConnectionStateListener {
        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
            if (connection instanceof AsyncOnlyConnection<?, ?> asyncOnly) {
                asyncOnly.remote = address;
            }
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            if (connection instanceof AsyncOnlyConnection<?, ?> asyncOnly) {
                asyncOnly.remote = null;
            }
        }
    }
}
