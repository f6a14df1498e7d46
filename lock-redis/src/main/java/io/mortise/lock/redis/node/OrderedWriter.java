// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.redis.script.ScriptCall;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests to a connection in the order in which they were submitted. Netty would let the channel's own thread write
 * at once, ahead of requests that other threads have submitted and that are not written yet. Then a lock could be released
 * before it is acquired, or a vote be requested before the last one is released. While such requests exist, this class
 * submits those of the channel's thread by way of another thread, behind them.
 */
final class OrderedWriter {
    private final Supplier<? extends Executor> offChannel;
    private final AtomicInteger unwritten = new AtomicInteger();
    private volatile @Nullable Thread channelThread;

    /** @param offChannel an executor that runs tasks one after the other, and never on the channel's thread */
    OrderedWriter(Supplier<? extends Executor> offChannel) {
        this.offChannel = offChannel;
    }

    /** Records the current thread as the channel's own. */
    void onChannelThread() {
        Thread current = Thread.currentThread();
        if (channelThread != current) {
            channelThread = current;
        }
    }

    /** Forgets the channel's thread, since the next channel may have another one. */
    void onDisconnected() {
        channelThread = null;
    }

    /**
     * Submits a call.
     *
     * @param dispatch writes the call, or completes it with a failure
     */
    void send(ScriptCall call, Runnable dispatch) {
        boolean onChannelThread = Thread.currentThread() == channelThread;
        if (onChannelThread && unwritten.get() == 0) {
            dispatch.run();
            return;
        }
        unwritten.incrementAndGet();
        call.whenWritten(unwritten::decrementAndGet);
        if (onChannelThread) {
            offChannel.get().execute(dispatch);
        } else {
            dispatch.run();
        }
    }
}
