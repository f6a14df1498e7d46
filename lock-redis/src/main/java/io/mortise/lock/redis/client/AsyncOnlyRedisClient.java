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
 * Lettuce client without its blocking API, which Mortise never uses. Lettuce makes that API of a proxy class with a thousand
 * methods at the first connection, which takes more processor time than all else until the first reply.
 */
public final class AsyncOnlyRedisClient extends RedisClient {
    AsyncOnlyRedisClient(ClientResources resources) {
        super(resources, new RedisURI());
        addListener(new RemoteAddresses());
    }

    @Override
    protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
            PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
        return new NoSyncConnection<>(endpoint, writer, codec, timeout);
    }

    @Override
    protected Mono<SocketAddress> getSocketAddress(RedisURI uri) {
        Supplier<? extends CompletionStage<SocketAddress>> lookup =
                uri instanceof AddressLookupRedisUri own ? own.lookup() : null;
        return lookup == null ? super.getSocketAddress(uri) : Mono.fromCompletionStage(lookup);
    }

    private static final class NoSyncConnection<K, V> extends StatefulRedisPubSubConnectionImpl<K, V> {
        private volatile @Nullable SocketAddress remote;

        NoSyncConnection(
                PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
            super(endpoint, writer, codec, timeout);
        }

        @Override
        protected @Nullable RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
            return null;
        }
    }

    /** Returns the address of the server that this connection leads to, if it is one of ours and established. */
    public static Optional<SocketAddress> remote(StatefulRedisPubSubConnection<?, ?> connection) {
        return connection instanceof NoSyncConnection<?, ?> own ? Optional.ofNullable(own.remote) : Optional.empty();
    }

    /** Told before the listeners of a connection itself: an address is removed before anybody hears of a loss. */
    private static final class RemoteAddresses implements RedisConnectionStateListener {
        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
            if (connection instanceof NoSyncConnection<?, ?> own) {
                own.remote = address;
            }
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            if (connection instanceof NoSyncConnection<?, ?> own) {
                own.remote = null;
            }
        }
    }
}
