// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import io.mortise.lock.LockClient;
import java.util.List;

/** Closes clients also when a signal ends the process: what they hold then would stay until its lease is over. */
final class AtExit implements AutoCloseable {
    private final Thread hook;

    private AtExit(Thread hook) {
        this.hook = hook;
    }

    static AtExit closing(LockClient... clients) {
        Thread hook = new Thread(() -> List.of(clients).forEach(LockClient::close), "lockctl-close-clients");
        Runtime.getRuntime().addShutdownHook(hook);
        return new AtExit(hook);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // it is that hook's turn
        }
    }
}
