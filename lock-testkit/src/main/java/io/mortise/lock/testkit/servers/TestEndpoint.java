// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

/**
 * Address of a test server. Thread-safe.
 *
 * @param address as the server's client wants it, for ZooKeeper a connect string
 * @param owned whether the server was started for this endpoint and ends with it
 * @param atClose what {@link #close()} does
 */
public record TestEndpoint(String address, boolean owned, Runnable atClose) implements AutoCloseable {
    /** Stops the server if it was started here; leaves alone one that was given. Idempotent. */
    @Override
    public void close() {
        atClose.run();
    }
}
