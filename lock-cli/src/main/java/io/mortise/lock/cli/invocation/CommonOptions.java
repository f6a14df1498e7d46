// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockUrl;
import java.util.Optional;

/** Options of every command, given before or after its name. A command gets it as its parent command. */
public interface CommonOptions {
    /** The store's URL; empty if neither an option nor the environment nor the file names one. */
    Optional<String> urlIfGiven();

    /**
     * The store's URL.
     *
     * @throws io.mortise.lock.LockConfigurationException if there is none; it says how to give one
     */
    String url();

    /** Whether the answer is for a program. */
    boolean json();

    /** Whether the log and traces are wanted. */
    boolean verbose();

    /** A client of that store; the command closes it. */
    default LockClient connect() {
        String url = url();
        ClientStartupTuning.of(LockUrl.parse(url));
        return Locks.connect(url, ClientOptions.defaults());
    }
}
