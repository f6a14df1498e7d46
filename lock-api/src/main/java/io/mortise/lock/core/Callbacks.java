// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where user code runs; a busy or rejecting executor delays a callback, and loses none (S7). */
final class Callbacks implements Executor {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);

    private final Executor executor;
    private final ThreadPoolExecutor own = Threads.callbacks(); // it has no thread until it is used

    Callbacks(Optional<Executor> supplied) {
        executor = supplied.orElse(own);
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
        try {
            executor.execute(safe);
        } catch (RuntimeException | Error e) {
            ownThreads(safe, e);
        }
    }

    private void ownThreads(Runnable callback, Throwable why) {
        try {
            own.execute(callback);
            log.warn("event=callback-rejected using=own-threads cause=\"{}\"", why.toString());
        } catch (RejectedExecutionException e) {
            Threads.daemon("mortise-callback-late").newThread(callback).start(); // closed: one that came late
        }
    }

    /** What was handed over still runs; the threads end after it. */
    void close() {
        own.shutdown();
    }
}
