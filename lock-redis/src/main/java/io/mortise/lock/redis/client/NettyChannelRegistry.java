// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;

/**
 * Tracks all Netty channels of one client so that they can be closed together. Netty's threads may end without closing their
 * channels if they are shut down while they run a task. Lettuce closes only connected channels, not those that are connecting.
 */
final class NettyChannelRegistry implements NettyCustomizer {
    private final ChannelGroup all = new DefaultChannelGroup(
            ImmediateEventExecutor.INSTANCE, true); // once closed, it closes channels that are added

    private volatile boolean closed;

    @Override
    public void afterChannelInitialized(Channel channel) {
        all.add(channel);
        if (closed) {
            preventReconnect(channel);
        }
    }

    /** Closes all channels, which are not reconnected. Returns at once. */
    void close() {
        closed = true;
        all.forEach(NettyChannelRegistry::preventReconnect);
        all.close();
    }

    /** Suspends reconnects, because Lettuce would consider the channel lost, and log errors once its threads have ended. */
    private static void preventReconnect(Channel channel) {
        ConnectionWatchdog watchdog = channel.pipeline().get(ConnectionWatchdog.class);
        if (watchdog != null) {
            watchdog.setListenOnChannelInactive(false);
            watchdog.setReconnectSuspended(true); // needed for a channel that becomes active only now
        }
    }
}
