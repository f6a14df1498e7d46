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

/** Tracks the channels that one connection subscribes to, and dispatches their messages on the I/O thread. */
final class ChannelSubscriptions extends RedisPubSubAdapter<String, String> {
    private final RedisNodeClient node;
    private final NodeListener listener;
    private final ReentrantLock sending = new ReentrantLock(); // not a monitor, because Lettuce takes locks of its own
    private final Set<String> shardChannels = ConcurrentHashMap.newKeySet();

    ChannelSubscriptions(RedisNodeClient node, NodeListener listener) {
        this.node = node;
        this.listener = listener;
    }

    /** Subscribes to a channel; requests that are sent on the connection afterwards are executed after the subscription. */
    void listen(StatefulRedisPubSubConnection<String, String> connection, String shardChannel) {
        CompletionStage<Void> listening;
        sending.lock(); // a second caller must not return before the first one has sent the subscription
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
                    node.onShardedRefused(failure);
                    listener.onSubscribed(node); // waiters whose entry names that channel would receive no message
                }
                listener.onFailure(node, failure);
            }
        });
    }

    /**
     * Forgets the sharded channels, so that the next connection subscribes to each of them again. Lettuce would subscribe to
     * all of them with one command, which a cluster refuses for several slots.
     */
    void onDisconnected() {
        shardChannels.clear();
    }

    /** Called for the client's own channel, which is the first subscription on each connection. */
    @Override
    public void subscribed(@Nullable String on, long count) {
        node.onReceived();
        node.onConnected();
        listener.onSubscribed(node);
    }

    @Override
    public void message(@Nullable String on, @Nullable String text) {
        node.onReceived();
        if (text != null) {
            listener.onMessage(node, text);
        }
    }

    @Override
    public void smessage(@Nullable String on, @Nullable String text) {
        message(on, text);
    }

    /** Called when the server ends the subscription because the slot has moved to another node. */
    @Override
    public void sunsubscribed(@Nullable String from, long count) {
        if (from != null && shardChannels.remove(from)) {
            listener.onFailure(node, new RedisException("MOVED: " + from));
            listener.onSubscribed(node);
        }
    }
}
