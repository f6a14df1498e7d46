// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.connect;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.core.client.CoreClient;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import java.util.Objects;
import java.util.function.Function;

/**
 * Opens clients for backends that are configured in code instead of by URL.
 *
 * <p>The entry points of the backends use it, and so do tests that need a {@link io.mortise.lock.spi.testing.ManualClock}.
 * Thread-safe.
 */
public final class BackendClients {
    private BackendClients() {}

    /**
     * Opens a client that uses the monotonic clock of the JVM. Closing the client closes the backend.
     *
     * @param open opens the backend; the client passes its own services
     * @param options the options of the client
     */
    public static LockClient open(Function<BackendContext, LockBackend> open, ClientOptions options) {
        Objects.requireNonNull(open, "open");
        Objects.requireNonNull(options, "options");
        return CoreClient.open(open, options);
    }

    /**
     * Opens a client that uses the given clock. Closing the client closes the backend, and cancels the client's timers on the
     * clock.
     *
     * @param open opens the backend; the client passes its own services
     * @param options the options of the client
     * @param clock the clock, which several clients can share
     */
    public static LockClient open(Function<BackendContext, LockBackend> open, ClientOptions options, LockClock clock) {
        Objects.requireNonNull(open, "open");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(clock, "clock");
        return CoreClient.open(open, options, clock);
    }
}
