// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Maps lock names to the paths of lock nodes below one base path, and node names back to lock names.
 *
 * <p>A lock node has the name of its lock, with special characters escaped. Rule S13.
 *
 * @param base the base path
 */
public record LockPaths(String base) {
    /** Returns the path of a lock's node, whose children are the lock's queue. */
    public String lockNode(LockName name) {
        return (base.equals("/") ? "" : base) + "/" + nodeName(name);
    }

    /** Returns the node name of a lock. */
    public static String nodeName(LockName name) {
        return switch (name.value()) {
            case "." -> "%2E"; // ZooKeeper reserves these three names
            case ".." -> "%2E.";
            case "zookeeper" -> "%7Aookeeper";
            default -> name.escaped();
        };
    }

    /** Returns the name of the lock that has this node name; empty if the node is not a lock node. */
    public static Optional<String> lockName(String node) {
        return LockName.ofEscaped(node, LockPaths::nodeName).map(LockName::value);
    }

    /** Returns the base path and its ancestors, top down, without the root. */
    public List<String> baseNodes() {
        List<String> nodes = new ArrayList<>();
        for (int slash = base.indexOf('/', 1); slash > 0; slash = base.indexOf('/', slash + 1)) {
            nodes.add(base.substring(0, slash));
        }
        if (!base.equals("/")) {
            nodes.add(base);
        }
        return nodes;
    }
}
