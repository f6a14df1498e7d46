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
 * Programmatic configuration: connects clients to a {@link MemoryStore} that the application created. Each client acts as a
 * process of its own. On a store with a {@linkplain MemoryStore#create(io.mortise.lock.spi.LockClock) hand-cranked clock} time
 * does not move until the test moves it:
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * MemoryStore store = MemoryStore.create(clock);
 * LockClient locks = MemoryLocks.connect(store, ClientOptions.defaults().callbackExecutor(Runnable::run));
 * Lease lease = locks.named("job").acquire();
 * store.faults().freeze();              // the store falls silent
 * clock.advance(Duration.ofSeconds(31)); // no sleep
 * assert !lease.isHeld();
 * }</pre>
 *
 * <p>What runs on a direct executor, as there, must not block: it delays the next waiter.
 */
public final class MemoryLocks {
    private MemoryLocks() {}

    /** A client whose only faults are those of the store. */
    public static LockClient connect(MemoryStore store, ClientOptions options) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(options, "options");
        return connect(store, options, store.faultsOfOne());
    }

    /**
     * A client with faults of its own beside those of the store: to cut one process off while others go on.
     *
     * @param faults from {@link MemoryStore#faultsOfOne()} of the same store
     * @throws io.mortise.lock.BackendUnavailableException if the faults refuse or freeze already; at once, without waiting
     *     for the connect timeout
     */
    public static LockClient connect(MemoryStore store, ClientOptions options, MemoryFaults faults) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(faults, "faults");
        Function<BackendContext, LockBackend> open = context -> backend(store, faults, context);
        return store.clock()
                .map(clock -> BackendClients.over(open, options, clock))
                .orElseGet(() -> BackendClients.over(open, options));
    }

    /**
     * One connection to a store without the client around it: what a test puts something of its own in front of, and hands to
     * {@link BackendClients#over}. Faults as in {@link #connect(MemoryStore, ClientOptions, MemoryFaults)}.
     */
    public static LockBackend backend(MemoryStore store, MemoryFaults faults, BackendContext context) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(faults, "faults");
        Objects.requireNonNull(context, "context");
        return new MemoryBackend(store, faults, context);
    }
}
