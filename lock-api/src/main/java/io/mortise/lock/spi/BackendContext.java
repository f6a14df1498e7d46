// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Services of the core for a backend: clock, timeouts, renewal, cleanup. Thread-safe. */
public interface BackendContext {
    /** The only clock and timer that decisions may use. */
    LockClock clock();

    /** 16 hexadecimal digits, new for each client: for connection names and channels. */
    String clientId();

    /** See {@link io.mortise.lock.ClientOptions#connectTimeout()}. */
    Duration connectTimeout();

    /** See {@link io.mortise.lock.ClientOptions#requestTimeout()}. */
    Duration requestTimeout();

    /** For calls of a store's client that may block; daemon threads, ended at close. */
    Executor blocking();

    /** Renews this session from now on, with or without grants on it, until it is lost. */
    void keep(GrantValidity session);

    /**
     * Renews soon, in one call of {@link LockBackend#renew}, what is held and due only later: a server may have lost it, as after
     * a new connection. Returns at once; a failure is that of any renewal.
     *
     * @param which of all of that kind that is held
     */
    <K extends GrantValidity> void renewNow(Class<K> kind, Predicate<K> which);

    /**
     * Repeats the clean-up in the background until its stage succeeds or the instant has passed; a client that
     * closes waits for it as long as it may.
     *
     * @param what for the log, with the time by which the store drops it by itself
     */
    void cleanUp(String what, Supplier<? extends CompletionStage<?>> cleanup, MonotonicTime until);

    /**
     * The same stage with a deadline: fails with {@link io.mortise.lock.BackendUnavailableException} after one request
     * timeout. For clients whose requests have no deadline of their own.
     */
    <T> CompletionStage<T> timed(String what, CompletionStage<T> request);
}
