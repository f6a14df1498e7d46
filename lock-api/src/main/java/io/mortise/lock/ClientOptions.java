// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.DurationLimits;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;

/** Options of a client: timeouts, and the executor for callbacks. Immutable: each method returns a changed copy. */
public final class ClientOptions {
    private static final ClientOptions DEFAULTS =
            new ClientOptions(Duration.ofSeconds(10), Duration.ofSeconds(5), Optional.empty(), Optional.empty());

    private final Duration connectTimeout;
    private final Duration requestTimeout;
    private final Optional<Duration> unavailableAfter;
    private final Optional<Executor> callbackExecutor;

    private ClientOptions(
            Duration connectTimeout,
            Duration requestTimeout,
            Optional<Duration> unavailableAfter,
            Optional<Executor> callbackExecutor) {
        this.connectTimeout = connectTimeout;
        this.requestTimeout = requestTimeout;
        this.unavailableAfter = unavailableAfter;
        this.callbackExecutor = callbackExecutor;
    }

    /** 10 s to connect, 5 s a request, the lease duration until unavailable, a callback pool of the client's own. */
    public static ClientOptions defaults() {
        return DEFAULTS;
    }

    /** The longest wait for the first response. Default 10 s. */
    public ClientOptions connectTimeout(Duration timeout) {
        return new ClientOptions(
                DurationLimits.positive("connectTimeout", timeout), requestTimeout, unavailableAfter, callbackExecutor);
    }

    /** The deadline of each request to the store: after it the outcome counts as unknown (S15). Default 5 s. */
    public ClientOptions requestTimeout(Duration timeout) {
        return new ClientOptions(
                connectTimeout, DurationLimits.positive("requestTimeout", timeout), unavailableAfter, callbackExecutor);
    }

    /**
     * An unbounded wait fails when its requests have had no answer for so long, counted from the first of them (S15).
     * Default: the lease duration, or the session's.
     */
    public ClientOptions unavailableAfter(Duration timeout) {
        return new ClientOptions(
                connectTimeout,
                requestTimeout,
                Optional.of(DurationLimits.positive("unavailableAfter", timeout)),
                callbackExecutor);
    }

    /**
     * Runs all user code: stages of futures, {@link Lease#lost()}, {@link Lease#onExpiring}. It should have more than one
     * thread, or one slow callback delays another holder's notice of loss. The application shuts it down, after the
     * client. Default: a pool of the client's own, of daemon threads that end when idle.
     */
    public ClientOptions callbackExecutor(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return new ClientOptions(connectTimeout, requestTimeout, unavailableAfter, Optional.of(executor));
    }

    /** See {@link #connectTimeout(Duration)}. */
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /** See {@link #requestTimeout(Duration)}. */
    public Duration requestTimeout() {
        return requestTimeout;
    }

    /** See {@link #unavailableAfter(Duration)}; empty: the lease duration. */
    public Optional<Duration> unavailableAfter() {
        return unavailableAfter;
    }

    /** See {@link #callbackExecutor(Executor)}; empty: the client's own. */
    public Optional<Executor> callbackExecutor() {
        return callbackExecutor;
    }
}
