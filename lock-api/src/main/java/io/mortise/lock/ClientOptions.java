// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.DurationLimits;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Options of a client: its timeouts, the executor for callbacks, and listeners. Immutable and thread-safe; each method with a parameter
 * returns a changed copy, and rejects an invalid value with an {@link IllegalArgumentException} (S14).
 */
public final class ClientOptions {
    private static final ClientOptions DEFAULTS = new ClientOptions(new Values());

    /** The values of the options; not changed any more once an instance has them. */
    private static final class Values {
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration requestTimeout = Duration.ofSeconds(5);
        private Optional<Duration> unavailableAfter = Optional.empty();
        private Optional<Executor> callbackExecutor = Optional.empty();
        private List<LockListener> listeners = List.of();
    }

    private final Values values; // final, so that an instance may be passed to other threads in any way

    private ClientOptions(Values values) {
        this.values = values;
    }

    private ClientOptions copy(Consumer<Values> change) {
        Values changed = new Values();
        changed.connectTimeout = values.connectTimeout;
        changed.requestTimeout = values.requestTimeout;
        changed.unavailableAfter = values.unavailableAfter;
        changed.callbackExecutor = values.callbackExecutor;
        changed.listeners = values.listeners;
        change.accept(changed);
        return new ClientOptions(changed);
    }

    /**
     * Returns the default options: a connect timeout of 10 s, a request timeout of 5 s, no {@code unavailableAfter} (the lease
     * duration applies), and a callback pool that the client creates.
     */
    public static ClientOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets how long opening a client may wait for the store's first response. Default: 10 s. On Redlock it waits longer for
     * masters in quarantine, as a rule by {@code maxLease}, and in all at most twice the sum of both.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ClientOptions connectTimeout(Duration timeout) {
        return copy(changed -> changed.connectTimeout = DurationLimits.positive("connectTimeout", timeout));
    }

    /**
     * Sets how long a request to the store may take before its outcome counts as unknown (S15). Default: 5 s.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ClientOptions requestTimeout(Duration timeout) {
        return copy(changed -> changed.requestTimeout = DurationLimits.positive("requestTimeout", timeout));
    }

    /**
     * Sets after which outage an unbounded wait fails with {@link BackendUnavailableException} (S15). The outage counts from
     * the first request that had no response. Default: the lease duration of the lock, or of the session.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ClientOptions unavailableAfter(Duration timeout) {
        return copy(changed ->
                changed.unavailableAfter = Optional.of(DurationLimits.positive("unavailableAfter", timeout)));
    }

    /**
     * Sets the executor that runs all user code: stages of futures, {@link Lease#lost()} and {@link Lease#onExpiring}. It
     * should have more than one thread; otherwise one slow callback delays the loss notification of another holder. It must accept a
     * task without blocking, in a queue if all its threads are busy: tasks come from the threads that renew leases and read replies. The
     * application shuts it down, after it has closed the client. Default: a pool that the client creates, of 16 daemon threads
     * that end when idle.
     */
    public ClientOptions callbackExecutor(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return copy(changed -> changed.callbackExecutor = Optional.of(executor));
    }

    /**
     * Adds a listener to those that follow the acquires and leases of the client, for metrics and traces. A failure of one
     * affects neither the locks nor the other listeners. Default: none.
     */
    public ClientOptions listener(LockListener listener) {
        Objects.requireNonNull(listener, "listener");
        return copy(changed -> changed.listeners =
                Stream.concat(changed.listeners.stream(), Stream.of(listener)).toList());
    }

    /** Returns the {@linkplain #connectTimeout(Duration) connect timeout}. */
    public Duration connectTimeout() {
        return values.connectTimeout;
    }

    /** Returns the {@linkplain #requestTimeout(Duration) request timeout}. */
    public Duration requestTimeout() {
        return values.requestTimeout;
    }

    /**
     * Returns the {@linkplain #unavailableAfter(Duration) outage that ends an unbounded wait}; empty for the lease duration.
     */
    public Optional<Duration> unavailableAfter() {
        return values.unavailableAfter;
    }

    /** Returns the {@linkplain #callbackExecutor(Executor) callback executor}; empty if the client creates a pool. */
    public Optional<Executor> callbackExecutor() {
        return values.callbackExecutor;
    }

    /** Returns the {@linkplain #listener(LockListener) listeners}, in the order in which they were added. */
    public List<LockListener> listeners() {
        return values.listeners;
    }
}
