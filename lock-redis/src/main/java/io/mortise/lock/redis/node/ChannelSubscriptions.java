// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisException;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.redis.client.RedisErrors;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Channels that one connection listens to, and the dispatch of their messages. On its I/O thread. */
final class ChannelSubscriptions extends RedisPubSubAdapter<String, String> {
    private final RedisNodeClient node;
    private final NodeListener listener;
    private final ReentrantLock sending = new ReentrantLock(); // no monitor: Lettuce takes locks of its own
    private final Set<String> shardChannels = ConcurrentHashMap.newKeySet();

    ChannelSubscriptions(RedisNodeClient node, NodeListener listener) {
        this.node = node;
        this.listener = listener;
    }

    /** What is sent on the connection after this is executed after it. */
    void listen(StatefulRedisPubSubConnection<String, String> connection, String shardChannel) {
        CompletionStage<Void> listening;
        sending.lock(); // nobody sends behind one that has not sent yet
        try {
            if (!shardChannels.add(shardChannel)) {
                return;
            }
            listening = connection.async().ssubscribe(shardChannel);
        } finally {
            sending.unlock();
        }
        listening.whenComplete((ok, failure) -> {
            if (failure != null) {
                shardChannels.remove(shardChannel);
                if (!RedisErrors.mayHaveMoved(failure)) {
                    node.refusedShards(failure);
                    listener.listening(node); // who has entered that channel is not heard
                }
                listener.trouble(node, failure);
            }
        });
    }

    /**
     * The next connection listens to nothing in a slot until it is asked to: Lettuce asks for all channels at once, which no
     * cluster does for several slots.
     */
    void lost() {
        shardChannels.clear();
    }

    /** The channel of its own, which comes first on each connection. */
    @Override
    public void subscribed(@Nullable String on, long count) {
        node.heard();
        node.connected();
        listener.listening(node);
    }

    @Override
    public void message(@Nullable String on, @Nullable String text) {
        node.heard();
        if (text != null) {
            listener.message(node, text);
        }
    }

    @Override
    public void smessage(@Nullable String on, @Nullable String text) {
        message(on, text);
    }

    /** The slot has moved to another node. */
    @Override
    public void sunsubscribed(@Nullable String from, long count) {
        if (from != null && shardChannels.remove(from)) {
            listener.trouble(node, new RedisException("MOVED: " + from));
            listener.listening(node);
        }
    }
}
