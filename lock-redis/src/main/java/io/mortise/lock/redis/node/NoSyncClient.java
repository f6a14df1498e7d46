// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Lettuce without its blocking face, which we never use. Each process would make that of a proxy class with a thousand methods
 * at its first connection, which takes a processor longer than all else that is done until the first answer.
 */
final class NoSyncClient extends RedisClient {
    NoSyncClient(ClientResources resources) {
        super(resources, new RedisURI());
    }

    @Override
    protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
            PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
        return new NoSyncConnection<>(endpoint, writer, codec, timeout);
    }

    private static final class NoSyncConnection<K, V> extends StatefulRedisPubSubConnectionImpl<K, V> {
        NoSyncConnection(
                PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
            super(endpoint, writer, codec, timeout);
        }

        @Override
        protected @Nullable RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
            return null;
        }
    }
}
