// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import java.util.HashMap;
import java.util.Map;

/** Assembles the system properties of a child JVM that runs a ZooKeeper server. */
final class ZooKeeperChildJvmProperties {
    /**
     * Property that controls whether servers sync their log. Its value in this JVM applies to child JVMs too, since their logs
     * are on the same disk.
     */
    private static final String FORCE_SYNC = "zookeeper.forceSync";

    private ZooKeeperChildJvmProperties() {}

    /** Returns the given properties, and those of this JVM that its child JVMs inherit. */
    static Map<String, String> with(Map<String, String> given) {
        Map<String, String> all = new HashMap<>(given);
        String sync = System.getProperty(FORCE_SYNC);
        if (sync != null) {
            all.putIfAbsent(FORCE_SYNC, sync);
        }
        return all;
    }
}
