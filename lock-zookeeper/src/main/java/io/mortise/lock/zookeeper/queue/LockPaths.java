// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The paths of lock nodes: one per lock under the base path, named after the lock with escapes (S13).
 *
 * @param base the base path
 */
public record LockPaths(String base) {
    /** Returns the path of a lock's node, whose children are its queue. */
    public String lockNode(LockName name) {
        return (base.equals("/") ? "" : base) + "/" + nodeName(name);
    }

    /** Returns the name of a lock's node. */
    public static String nodeName(LockName name) {
        return switch (name.value()) {
            case "." -> "%2E"; // ZooKeeper reserves these three names
            case ".." -> "%2E.";
            case "zookeeper" -> "%7Aookeeper";
            default -> name.escaped();
        };
    }

    /** Returns the name of the lock whose node this is, under the base path; empty if it is not a lock node. */
    public static Optional<String> lockName(String node) {
        try {
            LockName name = new LockName(LockName.unescape(node));
            return nodeName(name).equals(node)
                    ? Optional.of(name.value())
                    : Optional.empty(); // otherwise somebody else's node
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
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
