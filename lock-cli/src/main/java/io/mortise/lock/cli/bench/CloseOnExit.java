// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import io.mortise.lock.LockClient;
import java.util.List;

/** Closes lock clients when a signal ends the process. Otherwise their locks would stay held until the leases expire. */
final class CloseOnExit implements AutoCloseable {
    private final Thread hook;

    private CloseOnExit(Thread hook) {
        this.hook = hook;
    }

    /** Registers a shutdown hook that closes the clients; closing the returned object removes the hook. */
    static CloseOnExit closing(LockClient... clients) {
        Thread hook = new Thread(() -> List.of(clients).forEach(LockClient::close), "lockctl-close-clients");
        Runtime.getRuntime().addShutdownHook(hook);
        return new CloseOnExit(hook);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // the JVM is shutting down, and the hook closes the clients
        }
    }
}
