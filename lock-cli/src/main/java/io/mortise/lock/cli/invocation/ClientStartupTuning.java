// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.spi.LockUrl;

/**
 * Disables startup work of client libraries that short-lived commands do not need. System properties that the user sets with -D
 * take precedence.
 */
final class ClientStartupTuning {
    private ClientStartupTuning() {}

    /** Sets the system properties for a store; must be called before the first client is created. */
    static void of(LockUrl url) {
        // Flight recorder events: the JDK instruments their classes when they are loaded, which takes time.
        unlessSet("io.netty.jfr.enabled", "false");
        unlessSet("io.lettuce.core.jfr", "false");
        if (url.scheme().equals("zookeeper")
                && url.text("clientConfig").isEmpty()
                && !Boolean.getBoolean("zookeeper.client.secure")) {
            // ZooKeeper's client reads the supported ciphers even without TLS, which loads all certificates that Java
            // trusts.
            unlessSet("javax.net.ssl.trustStore", "NONE");
        }
        if (!url.scheme().equals("redis-socket")) { // only a Unix socket needs native code
            // Netty would unpack its native library into a temporary file and link it, for a single connection.
            unlessSet("io.netty.transport.noNative", "true");
        }
    }

    private static void unlessSet(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }
}
