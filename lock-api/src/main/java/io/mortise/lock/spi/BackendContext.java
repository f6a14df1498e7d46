// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Services that the core provides to a backend: clock, timeouts, renewals and cleanups. Thread-safe. */
public interface BackendContext {
    /** Returns the clock, the only source of time and timers that a backend may use for decisions. */
    LockClock clock();

    /** Returns the id of the client, 16 hexadecimal digits that are new for each client, for the names of connections and channels. */
    String clientId();

    /** Returns the {@linkplain io.mortise.lock.ClientOptions#connectTimeout() connect timeout}. */
    Duration connectTimeout();

    /** Returns the {@linkplain io.mortise.lock.ClientOptions#requestTimeout() request timeout}. */
    Duration requestTimeout();

    /** Returns the executor for calls that may block, such as those of a store's client. Its daemon threads end at close. */
    Executor blocking();

    /**
     * Renews the session from now on until it is lost, even while it has no grants.
     *
     * @param session the validity of the session
     */
    void register(GrantValidity session);

    /**
     * Renews the selected grants or sessions now, in one call of {@link LockBackend#renew}, instead of when they are due. A
     * backend calls it when a server may have lost grants, for example after a reconnect. Returns immediately; a failure is
     * treated as that of any renewal.
     *
     * @param kind the class of the validities to renew
     * @param which selects among all current validities of that class
     */
    <K extends GrantValidity> void renewNow(Class<K> kind, Predicate<K> which);

    /**
     * Runs the cleanup in the background, and repeats it until its stage succeeds or the given instant has passed (S8). A
     * client that closes waits for the cleanup within its own limit.
     *
     * @param what the description for the log: what is cleaned up, and when the store drops it without a cleanup
     * @param cleanup starts one try
     * @param until the instant of the last try
     */
    void cleanUp(String what, Supplier<? extends CompletionStage<?>> cleanup, MonotonicTime until);

    /**
     * Returns a stage that completes as the given one, but fails with {@link io.mortise.lock.BackendUnavailableException} after
     * one request timeout. A backend uses it if the requests of the store's client have no deadline.
     *
     * @param what the description of the request for the message
     */
    <T> CompletionStage<T> withRequestTimeout(String what, CompletionStage<T> request);
}
