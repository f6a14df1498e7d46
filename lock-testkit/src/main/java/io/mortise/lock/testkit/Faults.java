// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.proxy.FaultyLink;

/**
 * Faults that the kit can inject around one {@link BackendUnderTest}. Every method may be left out: it then throws {@link
 * UnsupportedOperationException}, and the rules that need it are reported as NOT VERIFIED. So does one that this store, or
 * this server, cannot do today.
 *
 * <p>The kit ends what it began: links are healed and the server is started again before the clients are closed. Each fault is
 * in effect when its method returns; one that only begins by then makes tests fail now and then. Whatever else a method throws
 * fails the test.
 */
public interface Faults {
    /** Breaks nothing. */
    Faults NONE = new Faults() {};

    /** The link of a client that {@link BackendUnderTest#open} returned; other clients do not notice what happens on it. */
    default FaultyLink link(LockClient client) {
        throw new UnsupportedOperationException("Faults.link is not implemented");
    }

    /**
     * The store ends what the client's grants hang on, as if it had expired: its session, or its present leases. Its link
     * stays, and other clients keep what they have. Only sessions that {@link BackendUnderTest#open} began need be found; a
     * test expires each client once.
     */
    default void expireSession(LockClient client) {
        throw new UnsupportedOperationException("Faults.expireSession is not implemented");
    }

    /**
     * Deletes the entry of whoever holds this lock, as an operator does with the store's own tools, past Mortise. Somebody
     * holds it when this is called.
     */
    default void deleteGrant(String lockName) {
        throw new UnsupportedOperationException("Faults.deleteGrant is not implemented");
    }

    /**
     * Stops the server; it keeps its data. Clients lose their connections, and {@link BackendUnderTest#open} fails until it is
     * started again. Of no use without {@link #startServer}.
     */
    default void stopServer() {
        throw new UnsupportedOperationException("Faults.stopServer is not implemented");
    }

    /** Starts the server that {@link #stopServer} stopped, with its data, at the same address; it serves when this returns. */
    default void startServer() {
        throw new UnsupportedOperationException("Faults.startServer is not implemented");
    }
}
