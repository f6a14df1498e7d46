// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.spi.LockUrl;

/**
 * Turns off what the stores' libraries do at their start and a short command does not need. What the user set with -D takes precedence.
 */
final class ClientStartupTuning {
    private ClientStartupTuning() {}

    /** Before the first client is made. */
    static void of(LockUrl url) {
        // Events for a flight recorder: their classes are rewritten when they are loaded.
        unlessSet("io.netty.jfr.enabled", "false");
        unlessSet("io.lettuce.core.jfr", "false");
        if (url.scheme().equals("zookeeper")
                && url.text("clientConfig").isEmpty()
                && !Boolean.getBoolean("zookeeper.client.secure")) {
            // Its client asks for the ciphers there are, TLS or not, and with them come all certificates that Java
            // trusts.
            unlessSet("javax.net.ssl.trustStore", "NONE");
        }
        if (!url.scheme().equals("redis-socket")) { // nothing else needs it
            // Native code that is unpacked into a temporary file and linked, for one connection.
            unlessSet("io.netty.transport.noNative", "true");
        }
    }

    private static void unlessSet(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }
}
