// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the callbacks of the application on its executor, or on threads of the client. If the application's executor is busy or
 * rejects a callback, the callback is delayed, but never lost (S7).
 */
public final class CallbackExecutor implements Executor {
    private static final Logger log = LoggerFactory.getLogger(CallbackExecutor.class);

    private final Executor executor;
    private final ThreadPoolExecutor own;
    private final boolean inline;

    /**
     * Creates the executor of one client.
     *
     * @param supplied the executor of the application; empty to use only threads of the client
     * @param inline whether that executor may run callbacks on the calling thread
     */
    public CallbackExecutor(Optional<Executor> supplied, boolean inline) {
        this(supplied, inline, CoreThreads.callbacks()); // creates no thread until it is used
    }

    CallbackExecutor(Optional<Executor> supplied, boolean inline, ThreadPoolExecutor own) {
        this.own = own;
        this.executor = supplied.orElse(own);
        this.inline = inline;
    }

    @Override
    public void execute(Runnable callback) {
        Runnable safe = () -> {
            try {
                callback.run();
            } catch (Throwable e) {
                log.warn("event=callback-failed", e);
            }
        };
        HandOver handOver = new HandOver(safe);
        try {
            executor.execute(inline ? safe : handOver);
        } catch (Throwable e) {
            onRejected(safe, e);
        } finally {
            handOver.caller = null;
        }
    }

    /**
     * A callback that moves to a thread of the client if the executor runs it on the calling thread. Direct and saturated
     * executors do so, but the calling thread may be the timer thread or an I/O thread, for which user code may wait.
     */
    private final class HandOver implements Runnable {
        private final Runnable callback;
        private volatile @Nullable Thread caller = Thread.currentThread();

        HandOver(Runnable callback) {
            this.callback = callback;
        }

        @Override
        public void run() {
            if (caller == Thread.currentThread()) {
                onOwnThread(callback);
            } else {
                callback.run();
            }
        }
    }

    private void onRejected(Runnable callback, Throwable why) {
        onOwnThread(callback); // before the log, which may fail
        log.warn("event=callback-rejected using=own-threads cause=\"{}\"", why.toString());
    }

    private void onOwnThread(Runnable callback) {
        try {
            own.execute(callback);
        } catch (RejectedExecutionException e) {
            CoreThreads.daemon("mortise-callback-late").newThread(callback).start(); // submitted after close()
        } catch (Error e) { // no thread can be created now: one that exists takes it, or the one for the next callback
            own.getQueue().add(callback);
        }
    }

    /** Ends the threads of the client, after the callbacks that were submitted before. */
    public void close() {
        own.shutdown();
    }
}
