// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where user code runs; a busy or rejecting executor delays a callback, and loses none (S7). */
final class Callbacks implements Executor {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);

    private final Executor executor;
    private final @Nullable ThreadPoolExecutor owned;

    Callbacks(Optional<Executor> supplied) {
        owned = supplied.isPresent() ? null : Threads.callbacks();
        executor = owned == null ? supplied.orElseThrow() : owned;
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
        } catch (RuntimeException e) {
            log.warn("event=callback-rejected using=own-thread cause=\"{}\"", e.toString());
            Threads.daemon("mortise-callback-rejected").newThread(safe).start();
        }
    }

    /** What was handed over still runs; the threads end after it. */
    void close() {
        if (owned != null) {
            owned.shutdown();
        }
    }
}
