// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the application's callbacks; if its executor is busy or rejects them they are delayed, never lost (S7). */
public final class CallbackExecutor implements Executor {
    private static final Logger log = LoggerFactory.getLogger(CallbackExecutor.class);

    private final Executor executor;
    private final ThreadPoolExecutor own = CoreThreads.callbacks(); // it has no thread until it is used

    private final boolean inline;

    /** @param inline whether an executor may run callbacks on the thread that hands them over */
    public CallbackExecutor(Optional<Executor> supplied, boolean inline) {
        this.executor = supplied.orElse(own);
        this.inline = inline;
    }

    @Override
    public void execute(Runnable callback) {
        Runnable safe = () -> {
            try {
                callback.run();
            } catch (RuntimeException | Error e) {
                log.warn("event=callback-failed", e);
            }
        };
        HandOver handOver = new HandOver(safe);
        try {
            executor.execute(inline ? safe : handOver);
        } catch (RuntimeException | Error e) {
            ownThreads(safe, e);
        } finally {
            handOver.caller = null;
        }
    }

    /**
     * Goes to a thread of our own where the executor runs it on the calling thread, as a direct or a saturated one does: that
     * thread may be the one that reads the store's answers, or the timer's, and user code may wait for either.
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

    private void ownThreads(Runnable callback, Throwable why) {
        log.warn("event=callback-rejected using=own-threads cause=\"{}\"", why.toString());
        onOwnThread(callback);
    }

    private void onOwnThread(Runnable callback) {
        try {
            own.execute(callback);
        } catch (RejectedExecutionException e) {
            CoreThreads.daemon("mortise-callback-late").newThread(callback).start(); // closed: one that came late
        }
    }

    /** What was handed over still runs; the threads end after it. */
    public void close() {
        own.shutdown();
    }
}
