// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Services that the core provides to a backend: clock, timeouts, renewals and cleanups. Thread-safe. */
public interface BackendContext {
    /** The maximum number of calls of {@link #callBlocking} that run at a time for one client; a size for connection pools. */
    int BLOCKING_CALLS = 8;

    /** Returns the clock, the only source of time and timers that a backend may use for decisions. */
    LockClock clock();

    /** Returns the id of the client, 16 hexadecimal digits that are new for each client, for the names of connections and channels. */
    String clientId();

    /** Returns the {@linkplain io.mortise.lock.ClientOptions#connectTimeout() connect timeout}. */
    Duration connectTimeout();

    /** Returns the {@linkplain io.mortise.lock.ClientOptions#requestTimeout() request timeout}. */
    Duration requestTimeout();

    /**
     * Returns the executor for the few calls per client that may block, such as opening a connection. It starts a thread for
     * each concurrent call, so requests belong into {@link #callBlocking}. Its daemon threads end at close.
     */
    Executor blocking();

    /**
     * Sends one request through a client of the store that blocks, such as a JDBC driver.
     *
     * <p>At most {@link #BLOCKING_CALLS} calls run at a time; more wait in a queue, so that many waiters need no more threads
     * (S17). The stage fails with {@link io.mortise.lock.BackendUnavailableException} after one request timeout, and then a call
     * that has not begun is dropped. A call that has begun cannot be ended: give the store's client a timeout too, or silent
     * servers occupy all threads. Calls should be about as long as one round trip: renewals wait in the same queue.
     *
     * @param what the description of the request for the message
     * @param call sends the request and returns the reply
     */
    <T> CompletionStage<T> callBlocking(String what, Callable<T> call);

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
    void cleanUp(String what, Supplier<? extends CompletionStage<?>> cleanup, MonotonicInstant until);

    /**
     * Returns a stage that completes as the given one, but fails with {@link io.mortise.lock.BackendUnavailableException} after
     * one request timeout. A backend uses it if the requests of the store's client have no deadline.
     *
     * @param what the description of the request for the message
     */
    <T> CompletionStage<T> withRequestTimeout(String what, CompletionStage<T> request);
}
