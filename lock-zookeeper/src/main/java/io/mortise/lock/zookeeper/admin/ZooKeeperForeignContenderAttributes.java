// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.zookeeper.data.Stat;

/** Extracts attributes, to be shown to operators, from a contender node that another library such as Curator created. */
final class ZooKeeperForeignContenderAttributes {
    /** The prefix that Curator gives the name of a protected node, to find the node after a lost reply. */
    private static final Pattern CURATOR = Pattern.compile("_c_[0-9a-f-]{36}-.*");

    private ZooKeeperForeignContenderAttributes() {}

    static Map<String, String> of(String path, Stat stat) {
        String node = path.substring(path.lastIndexOf('/') + 1);
        Map<String, String> attributes = new LinkedHashMap<>();
        if (CURATOR.matcher(node).matches()) {
            attributes.put("client", "Curator");
        }
        attributes.put("node", node);
        attributes.put(
                "session",
                stat.getEphemeralOwner() == 0
                        ? "none: the node stays until a client deletes it"
                        : "0x" + Long.toHexString(stat.getEphemeralOwner()));
        return attributes;
    }
}
