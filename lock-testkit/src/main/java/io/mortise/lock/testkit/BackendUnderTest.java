// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The backend that the kit tests, with an empty namespace for one test: implemented by third parties. The kit closes the
 * clients that it opened, then this. Only {@link #open} must be written; what is left out is reported as not verified, never
 * as passed. A test calls it from several threads. {@link LinkedBackendUnderTest} is one that has much of it already.
 */
public interface BackendUnderTest extends AutoCloseable {
    /**
     * A new client with connections of its own, as another process would have, in the namespace of this test. Backends
     * with sessions open it with the shortest session that the store allows, so that expiry does not take for ever.
     */
    LockClient open(ClientOptions options);

    /**
     * The longest that a lock of a client that fell silent stays taken, for leases of {@link #lease()}: lease or session,
     * the store's expiry granularity, and 2 s (S11). Bounds waits of the tests that {@linkplain #faults() break something}.
     */
    default Duration takeoverWithin() {
        return lease().plusSeconds(3);
    }

    /**
     * How long a silent holder's grant lasts in these tests. Backends with PER_LOCK_LEASE are asked for it per lock; others
     * return the session duration that {@link #open} sets. Default 2 s.
     */
    default Duration lease() {
        return Duration.ofSeconds(2);
    }

    /**
     * By when a holder is told that an operator took its lock away (S7): at once where the store tells, else by the next
     * renewal. Default: {@link #lease()}, within which every backend renews.
     */
    default Duration removalToldWithin() {
        return lease();
    }

    /** What can be broken around this backend. Default: {@link Faults#NONE}. */
    default Faults faults() {
        return Faults.NONE;
    }

    /**
     * The URL by which another process reaches the same namespace by {@link io.mortise.lock.connect.Locks#connect}, with leases or
     * sessions of {@link #lease()}; the provider is on the class path. Empty: what needs a process that is frozen or killed is
     * not verified.
     */
    default Optional<String> url() {
        return Optional.empty();
    }

    /**
     * How many requests the store has had so far by its own count, from all clients, renewals and other signs of life left out.
     * A store that serves others at the same time cannot tell. Empty: what needs a count is not verified.
     */
    default OptionalLong requests() {
        return OptionalLong.empty();
    }

    /**
     * Whether a thread is no leak of the client's (S16): it belongs to a server that runs inside this JVM, or a driver keeps one
     * for all its clients. Not asked about threads of the kit.
     */
    default boolean isServerThread(Thread thread) {
        return false;
    }

    /** Removes the namespace and whatever was started for it. */
    @Override
    default void close() {}
}
