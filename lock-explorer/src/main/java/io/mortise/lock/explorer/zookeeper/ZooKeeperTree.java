// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.zookeeper;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that one server has after a transaction. An immutable value, in which the root always exists. It has the writes that
 * a lock needs: ephemeral sequential nodes, containers around them, deletions, and the ends of sessions.
 *
 * @param nodes the nodes by their paths, without the root
 * @param zxid the last transaction
 */
public record ZooKeeperTree(Map<String, Znode> nodes, long zxid) {
    /**
     * A node.
     *
     * @param czxid the transaction that created it
     * @param owner the session with which it ends; 0 if it outlives its session
     * @param creates how many children were created in it, which is the next sequence number
     */
    public record Znode(long czxid, long owner, int creates) {}

    /** The error code of a write. */
    public enum Code {
        OK,
        NONODE,
        NODEEXISTS,
        NOTEMPTY
    }

    /** A write, which the leader orders among all others. */
    public sealed interface Write {}

    /** Creates an ephemeral sequential node. */
    public record Create(String prefix, long owner) implements Write {}

    /** Creates a container, and an ephemeral sequential node with this name in it. */
    public record CreateInContainer(String container, String child, long owner) implements Write {}

    /** Deletes a node. */
    public record Delete(String path) implements Write {}

    /**
     * Ends a session, and deletes its nodes.
     *
     * @param reversed whether the watches on them are triggered in the reverse order: a server keeps none
     */
    public record CloseSession(long owner, boolean reversed) implements Write {}

    /**
     * The outcome of a write.
     *
     * @param path the path of the node that was created; empty if none was
     * @param deleted the nodes that were deleted, in the order in which their watches are triggered
     */
    public record Outcome(ZooKeeperTree next, Code code, String path, List<String> deleted) {}

    /** Returns the tree of a new server. */
    public static ZooKeeperTree empty(long zxid) {
        return new ZooKeeperTree(Map.of(), zxid);
    }

    /** Returns what a write leads to. A write that fails is a transaction too. */
    public Outcome apply(Write write) {
        TreeMap<String, Znode> next = new TreeMap<>(nodes);
        if (write instanceof Create create) {
            return create(next, create.prefix, create.owner);
        }
        if (write instanceof CreateInContainer create) {
            if (nodes.containsKey(create.container)) {
                return failed(Code.NODEEXISTS);
            }
            if (!exists(parent(create.container))) {
                return failed(Code.NONODE);
            }
            addTo(next, create.container, 0);
            return create(next, create.container + "/" + create.child, create.owner);
        }
        if (write instanceof Delete delete) {
            if (!nodes.containsKey(delete.path)) {
                return failed(Code.NONODE);
            }
            if (!children(delete.path).orElseThrow().isEmpty()) {
                return failed(Code.NOTEMPTY);
            }
            next.remove(delete.path);
            return new Outcome(new ZooKeeperTree(next, zxid + 1), Code.OK, "", List.of(delete.path));
        }
        CloseSession close = (CloseSession) write;
        List<String> deleted = new ArrayList<>(nodes.entrySet().stream()
                .filter(entry -> entry.getValue().owner == close.owner)
                .map(Map.Entry::getKey)
                .toList());
        deleted.forEach(next::remove);
        if (close.reversed) {
            Collections.reverse(deleted);
        }
        return new Outcome(new ZooKeeperTree(next, zxid + 1), Code.OK, "", deleted);
    }

    private Outcome failed(Code code) {
        return new Outcome(new ZooKeeperTree(nodes, zxid + 1), code, "", List.of());
    }

    private Outcome create(TreeMap<String, Znode> next, String prefix, long owner) {
        @Nullable Znode container = next.get(parent(prefix));
        if (container == null) {
            return failed(Code.NONODE);
        }
        String path = prefix + sequence(container.creates);
        addTo(next, path, owner);
        return new Outcome(new ZooKeeperTree(next, zxid + 1), Code.OK, path, List.of());
    }

    /** Returns a sequence number as the server writes it. */
    public static String sequence(int number) {
        String digits = String.valueOf(number);
        return "0".repeat(10 - digits.length()) + digits;
    }

    private void addTo(TreeMap<String, Znode> next, String path, long owner) {
        next.put(path, new Znode(zxid + 1, owner, 0));
        next.computeIfPresent(parent(path), (name, known) -> new Znode(known.czxid, known.owner, known.creates + 1));
    }

    private static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    private boolean exists(String path) {
        return path.isEmpty() || nodes.containsKey(path);
    }

    /** Returns the names of a node's children; empty if the node does not exist. */
    public Optional<List<String>> children(String path) {
        if (!exists(path)) {
            return Optional.empty();
        }
        String start = path + "/";
        return Optional.of(nodes.keySet().stream()
                .filter(each -> each.startsWith(start) && each.indexOf('/', start.length()) < 0)
                .map(each -> each.substring(start.length()))
                .toList());
    }
}
