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
 * Creates clients of a backend instance: for programmatic configuration, and for tests with a
 * {@link io.mortise.lock.spi.testing.ManualClock}.
 */
public final class BackendClients {
    private BackendClients() {}

    /** A client on the system's clock. Closing it closes the backend. */
    public static LockClient over(Function<BackendContext, LockBackend> open, ClientOptions options) {
        Objects.requireNonNull(open, "open");
        Objects.requireNonNull(options, "options");
        return CoreClient.open(open, options);
    }

    /** A client on the given clock. Closing it closes the backend, not the clock. */
    public static LockClient over(Function<BackendContext, LockBackend> open, ClientOptions options, LockClock clock) {
        Objects.requireNonNull(open, "open");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(clock, "clock");
        return CoreClient.open(open, options, clock);
    }
}
