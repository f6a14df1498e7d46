// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.testing;

import io.mortise.lock.spi.LockBackend;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Wraps the backends of the clients that a test opens, so that the test sees what passes between the core and the store.
 *
 * <p>It works however the client is opened, by a URL or in code, and leaves the API of the client as it is. The conformance kit
 * records requests, grants and losses with it.
 */
public final class BackendInterception {
    private static final ThreadLocal<@Nullable UnaryOperator<LockBackend>> WRAPPER = new ThreadLocal<>();

    private BackendInterception() {}

    /**
     * Runs the task, and wraps the backend of each client that it opens on this thread.
     *
     * @param wrapper returns a backend that forwards to the given one
     * @param task opens clients
     */
    public static <T> T during(UnaryOperator<LockBackend> wrapper, Supplier<T> task) {
        Objects.requireNonNull(wrapper, "wrapper");
        UnaryOperator<LockBackend> outer = WRAPPER.get();
        WRAPPER.set(wrapper);
        try {
            return task.get();
        } finally {
            if (outer == null) {
                WRAPPER.remove();
            } else {
                WRAPPER.set(outer);
            }
        }
    }

    /** Returns the backend to use for a new client: the opened one, or its wrapper. The core calls this method. */
    public static LockBackend apply(LockBackend opened) {
        UnaryOperator<LockBackend> wrapper = WRAPPER.get();
        return wrapper == null ? opened : wrapper.apply(opened);
    }
}
