// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import java.util.HashMap;
import java.util.Map;

/** System properties of a ZooKeeper server in a JVM of its own. */
final class ZooKeeperSystemProperties {
    /** Whoever sets it for the servers of this JVM means those in others too: their logs are on the same disk. */
    private static final String FORCE_SYNC = "zookeeper.forceSync";

    private ZooKeeperSystemProperties() {}

    /** Those, and what this JVM's own servers follow. */
    static Map<String, String> with(Map<String, String> given) {
        Map<String, String> all = new HashMap<>(given);
        String sync = System.getProperty(FORCE_SYNC);
        if (sync != null) {
            all.putIfAbsent(FORCE_SYNC, sync);
        }
        return all;
    }
}
