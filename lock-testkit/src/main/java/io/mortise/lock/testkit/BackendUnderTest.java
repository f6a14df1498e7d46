// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Interface that a backend author implements so that the conformance kit can test the backend.
 *
 * <p>Each instance serves one test and has an empty namespace. The kit closes the clients that it opened, then this object.
 * Only {@link #open} must be implemented; a rule that needs another method is reported as not verified, never as passed. A test
 * calls the methods from several threads. {@link LinkedBackendUnderTest} is a base class that implements several of them.
 */
public interface BackendUnderTest extends AutoCloseable {
    /**
     * Opens a new client with its own connections, as another process would have, in the namespace of this test. Backends
     * with sessions use the shortest session that the store allows, so that tests of expiry do not take long.
     */
    LockClient open(ClientOptions options);

    /**
     * Returns what is tested, for the report: the store with its version and topology, such as "Redis 7.0.15, one server". Test
     * classes of a build with the same description share one section of the report. Default: the name of this object's class.
     */
    default String description() {
        return getClass()
                .getName()
                .replaceFirst("\\$\\$Lambda.*|(\\$\\d+)+$", "")
                .replaceFirst("^.*[.$]", "");
    }

    /**
     * Returns the longest time for which a lock stays held after its client has stopped responding, for leases of
     * {@link #lease()}: the lease or session duration, the granularity of the store's expiry, and 2 s (S11). Tests that
     * {@linkplain #faults() inject faults} wait for at most this time.
     */
    default Duration takeoverWithin() {
        return lease().plusSeconds(3);
    }

    /**
     * Returns how long the grant of an unresponsive holder lasts in these tests. With PER_LOCK_LEASE the tests request this
     * lease duration for each lock, which must be in force as it is, not rounded; other backends return the session duration
     * that {@link #open} sets. Default: 4 s, so that a machine that stalls for 2 s costs no lease.
     */
    default Duration lease() {
        return Duration.ofSeconds(4);
    }

    /**
     * Returns the time within which a holder is notified that an operator removed its grant (S7): zero if the store sends a
     * notification, else the time until the next renewal. Default: {@link #lease()}, within which every backend renews.
     */
    default Duration removalNotifiedWithin() {
        return lease();
    }

    /**
     * Returns how many round trips one call takes at most, such as the statements of a transaction, each sent after the reply to
     * the one before. The kit makes a slow link faster by this factor, so that a call still ends within a short lease, and a
     * request timeout. Default: 1.
     */
    default int roundTripsPerCall() {
        return 1;
    }

    /** Returns the faults that the kit can inject into this backend. Default: {@link Faults#NONE}. */
    default Faults faults() {
        return Faults.NONE;
    }

    /**
     * Returns the URL with which another process connects to the same namespace through
     * {@link io.mortise.lock.connect.Locks#connect}, with leases or sessions of {@link #lease()}. The provider must be on the
     * class path. If empty, rules that need a frozen or killed process are not verified.
     */
    default Optional<String> url() {
        return Optional.empty();
    }

    /**
     * Returns the number of requests from all clients that the store has counted so far, without renewals and heartbeats. A
     * store that serves other users at the same time cannot provide this number. If empty, rules that need it are not verified.
     * Requests that open a connection may count or not: the kit compares numbers only while its clients are connected.
     */
    default OptionalLong requests() {
        return OptionalLong.empty();
    }

    /**
     * Returns whether a thread is not leaked by a client (S16): it belongs to a server that runs inside this JVM, or a driver
     * shares it among all its clients. Not called for threads of the kit.
     */
    default boolean isServerThread(Thread thread) {
        return false;
    }

    /** Removes the namespace and stops everything that was started for it. */
    @Override
    default void close() {}
}
