// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import java.util.Objects;
import java.util.function.Function;

/**
 * Connects clients to a {@link MemoryStore} that a test or application has created.
 *
 * <p>Each client acts as a separate process. If the store has a
 * {@linkplain MemoryStore#create(io.mortise.lock.spi.LockClock) manual clock}, time passes only when the test advances it:
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * MemoryStore store = MemoryStore.create(clock);
 * LockClient locks = MemoryLocks.connect(store, ClientOptions.defaults().callbackExecutor(Runnable::run));
 * Lease lease = locks.named("job").acquire();
 * store.faults().freeze();              // the store does not respond any more
 * clock.advance(Duration.ofSeconds(31)); // no sleep
 * assert !lease.isHeld();
 * }</pre>
 *
 * <p>Callbacks on a direct executor, as in this example, must not block, because they would delay the next waiter.
 */
public final class MemoryLocks {
    private MemoryLocks() {}

    /**
     * Connects a client that is subject only to the {@linkplain MemoryStore#faults() faults of the store}.
     *
     * @throws io.mortise.lock.BackendUnavailableException if these faults currently refuse or freeze requests; immediately,
     *     without waiting for the connect timeout
     */
    public static LockClient connect(MemoryStore store, ClientOptions options) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(options, "options");
        return connect(store, options, store.newClientFaults());
    }

    /**
     * Connects a client that is subject to separate faults, in addition to those of the store. So a test can disconnect one
     * client while others continue.
     *
     * @param faults the faults of this client, from {@link MemoryStore#newClientFaults()} of the same store
     * @throws io.mortise.lock.BackendUnavailableException if the faults currently refuse or freeze requests; immediately,
     *     without waiting for the connect timeout
     */
    public static LockClient connect(MemoryStore store, ClientOptions options, MemoryFaults faults) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(faults, "faults");
        Function<BackendContext, LockBackend> open = context -> backend(store, faults, context);
        return store.clock()
                .map(clock -> BackendClients.open(open, options, clock))
                .orElseGet(() -> BackendClients.open(open, options));
    }

    /**
     * Opens a backend without a client, so that a test can wrap it before it passes it to {@link BackendClients#open}.
     *
     * @param faults as in {@link #connect(MemoryStore, ClientOptions, MemoryFaults)}
     * @param context the services of the client
     */
    public static LockBackend backend(MemoryStore store, MemoryFaults faults, BackendContext context) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(faults, "faults");
        Objects.requireNonNull(context, "context");
        return new MemoryBackend(store, faults, context);
    }
}
