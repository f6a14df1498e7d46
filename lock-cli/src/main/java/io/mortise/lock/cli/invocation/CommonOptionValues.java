// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockUrl;
import java.util.Optional;

/**
 * The options that every lockctl command accepts, before or after its name. A command gets them from its parent command, which
 * implements this interface.
 */
public interface CommonOptionValues {
    /** Returns the store's URL; empty if neither an option nor the environment nor the properties file gives one. */
    Optional<String> urlIfGiven();

    /**
     * Returns the store's URL.
     *
     * @throws io.mortise.lock.LockConfigurationException if none is given; the message explains how to give one
     */
    String url();

    /** Returns whether to print JSON. */
    boolean json();

    /** Returns whether to show log messages and stack traces. */
    boolean verbose();

    /** Connects to the store; the command closes the client. */
    default LockClient connect() {
        String url = url();
        ClientStartupTuning.of(LockUrl.parse(url));
        return Locks.connect(url, ClientOptions.defaults());
    }
}
