// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where locks live: one node per lock under the base path, named as the lock with escapes (S13). */
record LockPaths(String base) {
    /** The node of a lock, whose children stand in line. */
    String lockNode(LockName name) {
        return (base.equals("/") ? "" : base) + "/" + nodeName(name);
    }

    static String nodeName(LockName name) {
        return switch (name.value()) {
            case "." -> "%2E"; // the store gives these three a meaning of its own
            case ".." -> "%2E.";
            case "zookeeper" -> "%7Aookeeper";
            default -> name.escaped();
        };
    }

    /** The lock's name of a node under the base; empty for a node that is no lock of ours. */
    static Optional<String> lockName(String node) {
        try {
            LockName name = new LockName(LockName.unescape(node));
            return nodeName(name).equals(node) ? Optional.of(name.value()) : Optional.empty(); // else somebody else's
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The base and its ancestors, top down, without the root. */
    List<String> baseNodes() {
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
