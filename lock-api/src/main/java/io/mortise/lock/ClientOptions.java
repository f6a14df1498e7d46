// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.DurationLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * Options of a client: its timeouts, the executor for callbacks, and listeners. Immutable and thread-safe; each method with a parameter
 * returns a changed copy, and rejects an invalid value with an {@link IllegalArgumentException} (S14).
 */
public final class ClientOptions {
    private static final ClientOptions DEFAULTS = new ClientOptions(
            Duration.ofSeconds(10), Duration.ofSeconds(5), Optional.empty(), Optional.empty(), List.of());

    private final Duration connectTimeout;
    private final Duration requestTimeout;
    private final Optional<Duration> unavailableAfter;
    private final Optional<Executor> callbackExecutor;
    private final List<LockListener> listeners;

    private ClientOptions(
            Duration connectTimeout,
            Duration requestTimeout,
            Optional<Duration> unavailableAfter,
            Optional<Executor> callbackExecutor,
            List<LockListener> listeners) {
        this.connectTimeout = connectTimeout;
        this.requestTimeout = requestTimeout;
        this.unavailableAfter = unavailableAfter;
        this.callbackExecutor = callbackExecutor;
        this.listeners = listeners;
    }

    /**
     * Returns the default options: a connect timeout of 10 s, a request timeout of 5 s, no {@code unavailableAfter} (the lease
     * duration applies), and a callback pool that the client creates.
     */
    public static ClientOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets how long opening a client may wait for the store's first response. Default: 10 s.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ClientOptions connectTimeout(Duration timeout) {
        return new ClientOptions(
                DurationLimits.positive("connectTimeout", timeout),
                requestTimeout,
                unavailableAfter,
                callbackExecutor,
                listeners);
    }

    /**
     * Sets how long a request to the store may take before its outcome counts as unknown (S15). Default: 5 s.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ClientOptions requestTimeout(Duration timeout) {
        return new ClientOptions(
                connectTimeout,
                DurationLimits.positive("requestTimeout", timeout),
                unavailableAfter,
                callbackExecutor,
                listeners);
    }

    /**
     * Sets after which outage an unbounded wait fails with {@link BackendUnavailableException} (S15). The outage counts from
     * the first request that had no response. Default: the lease duration of the lock, or of the session.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ClientOptions unavailableAfter(Duration timeout) {
        return new ClientOptions(
                connectTimeout,
                requestTimeout,
                Optional.of(DurationLimits.positive("unavailableAfter", timeout)),
                callbackExecutor,
                listeners);
    }

    /**
     * Sets the executor that runs all user code: stages of futures, {@link Lease#lost()} and {@link Lease#onExpiring}. It
     * should have more than one thread; otherwise one slow callback delays the loss notification of another holder. The
     * application shuts it down, after it has closed the client. Default: a pool that the client creates, of 16 daemon threads
     * that end when idle.
     */
    public ClientOptions callbackExecutor(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return new ClientOptions(connectTimeout, requestTimeout, unavailableAfter, Optional.of(executor), listeners);
    }

    /**
     * Adds a listener to those that follow the acquires and leases of the client, for metrics and traces. A failure of one
     * affects neither the locks nor the other listeners. Default: none.
     */
    public ClientOptions listener(LockListener listener) {
        Objects.requireNonNull(listener, "listener");
        List<LockListener> all = new ArrayList<>(listeners);
        all.add(listener);
        return new ClientOptions(connectTimeout, requestTimeout, unavailableAfter, callbackExecutor, List.copyOf(all));
    }

    /** Returns the {@linkplain #connectTimeout(Duration) connect timeout}. */
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /** Returns the {@linkplain #requestTimeout(Duration) request timeout}. */
    public Duration requestTimeout() {
        return requestTimeout;
    }

    /**
     * Returns the {@linkplain #unavailableAfter(Duration) outage that ends an unbounded wait}; empty for the lease duration.
     */
    public Optional<Duration> unavailableAfter() {
        return unavailableAfter;
    }

    /** Returns the {@linkplain #callbackExecutor(Executor) callback executor}; empty if the client creates a pool. */
    public Optional<Executor> callbackExecutor() {
        return callbackExecutor;
    }

    /** Returns the {@linkplain #listener(LockListener) listeners}, in the order in which they were added. */
    public List<LockListener> listeners() {
        return listeners;
    }
}
