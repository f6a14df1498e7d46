// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;

/**
 * All channels of one client, to close them. Netty's threads may end without closing theirs, if they are told to while they
 * run a task, and Lettuce closes only those that are connected, not those that are about to be.
 */
final class NettyChannelRegistry implements NettyCustomizer {
    private final ChannelGroup all =
            new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true); // once closed, it closes what joins

    private volatile boolean closed;

    @Override
    public void afterChannelInitialized(Channel channel) {
        all.add(channel);
        if (closed) {
            leaveClosed(channel);
        }
    }

    /** None of them is made anew. Returns at once. */
    void close() {
        closed = true;
        all.forEach(NettyChannelRegistry::leaveClosed);
        all.close();
    }

    /** Else Lettuce takes it for lost, and complains if its threads have ended by the time at which it would connect again. */
    private static void leaveClosed(Channel channel) {
        ConnectionWatchdog watchdog = channel.pipeline().get(ConnectionWatchdog.class);
        if (watchdog != null) {
            watchdog.setListenOnChannelInactive(false);
            watchdog.setReconnectSuspended(true); // a channel that is active only now would listen again
        }
    }
}
