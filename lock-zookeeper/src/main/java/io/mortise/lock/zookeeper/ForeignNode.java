// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.zookeeper.data.Stat;

/** What can be told of a contender that is not ours. */
final class ForeignNode {
    /** Curator's protection against lost replies, before the name that its mutex gives. */
    private static final Pattern CURATOR = Pattern.compile("_c_[0-9a-f-]{36}-.*");

    private ForeignNode() {}

    static Map<String, String> about(String path, Stat stat) {
        String node = path.substring(path.lastIndexOf('/') + 1);
        Map<String, String> about = new LinkedHashMap<>();
        if (CURATOR.matcher(node).matches()) {
            about.put("client", "Curator");
        }
        about.put("node", node);
        about.put(
                "session",
                stat.getEphemeralOwner() == 0
                        ? "none: it stays until somebody deletes it"
                        : "0x" + Long.toHexString(stat.getEphemeralOwner()));
        return about;
    }
}
