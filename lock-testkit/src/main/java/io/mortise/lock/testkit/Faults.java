// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.proxy.FaultyLink;

/**
 * Faults that the conformance kit can inject into a backend and its connections to the store.
 *
 * <p>Every method is optional: by default it throws {@link UnsupportedOperationException}, and the rules that need it are
 * reported as NOT VERIFIED. An implementation throws the same exception if the current store or server does not support the
 * fault.
 *
 * <p>The kit undoes its faults: it heals the links and starts the server again before it closes the clients. Each fault must be
 * in effect when its method returns; otherwise tests fail occasionally. Any other exception fails the test.
 */
public interface Faults {
    /** Supports no fault. */
    Faults NONE = new Faults() {};

    /** Returns the link of a client that {@link BackendUnderTest#open} returned; its faults do not affect other clients. */
    default FaultyLink link(LockClient client) {
        throw new UnsupportedOperationException("Faults.link is not implemented");
    }

    /**
     * Makes the store end the client's session, or its current leases, as if they had expired. The client's link stays open,
     * and other clients keep their grants. Only sessions that {@link BackendUnderTest#open} created must be supported; a test
     * expires each client once.
     */
    default void expireSession(LockClient client) {
        throw new UnsupportedOperationException("Faults.expireSession is not implemented");
    }

    /**
     * Deletes the current holder's entry, as an operator does with the store's own tools, without Mortise. The lock is held
     * when this is called.
     */
    default void deleteGrant(String lockName) {
        throw new UnsupportedOperationException("Faults.deleteGrant is not implemented");
    }

    /**
     * Stops the server; it keeps its data. Clients lose their connections, and {@link BackendUnderTest#open} fails until it is
     * started again. Requires {@link #startServer}.
     */
    default void stopServer() {
        throw new UnsupportedOperationException("Faults.stopServer is not implemented");
    }

    /**
     * Starts the server that {@link #stopServer} stopped, with its data, at the same address. The server accepts requests when
     * this returns.
     */
    default void startServer() {
        throw new UnsupportedOperationException("Faults.startServer is not implemented");
    }
}
