// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.zookeeper;

import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Outcome;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Write;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Znode;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One server: the nodes that it has, and the one-time watches of the clients that are connected to it. Not thread-safe. */
public final class ZooKeeperServerModel {
    private ZooKeeperTree tree;
    private final TreeMap<String, TreeSet<Integer>> watches = new TreeMap<>();

    /** Creates a server without watches. */
    public ZooKeeperServerModel(ZooKeeperTree tree) {
        this.tree = tree;
    }

    /** Copies a server. */
    public ZooKeeperServerModel(ZooKeeperServerModel from) {
        tree = from.tree;
        from.watches.forEach((path, clients) -> watches.put(path, new TreeSet<>(clients)));
    }

    /** Returns the nodes. */
    public ZooKeeperTree tree() {
        return tree;
    }

    /** Returns the clients that watch, by the path that they watch. */
    public SortedMap<String, ? extends SortedSet<Integer>> watches() {
        return Collections.unmodifiableSortedMap(watches);
    }

    /**
     * Applies a transaction.
     *
     * @param events receives each client whose watch is triggered by a deletion, and the path
     */
    public Outcome apply(Write write, BiConsumer<Integer, String> events) {
        Outcome outcome = tree.apply(write);
        tree = outcome.next();
        for (String path : outcome.deleted()) {
            TreeSet<Integer> watching = watches.remove(path);
            if (watching != null) {
                watching.forEach(client -> events.accept(client, path));
            }
        }
        return outcome;
    }

    /** Reads a node and registers a watch on it, as {@code getData} does. Returns null, without a watch, if it does not exist. */
    public @Nullable Znode watch(int client, String path) {
        Znode node = tree.nodes().get(path);
        if (node != null) {
            watches.computeIfAbsent(path, key -> new TreeSet<>()).add(client);
        }
        return node;
    }

    /** Removes a watch. */
    public void unwatch(int client, String path) {
        TreeSet<Integer> watching = watches.get(path);
        if (watching != null && watching.remove(client) && watching.isEmpty()) {
            watches.remove(path);
        }
    }

    /** Forgets the watches of a client whose connection is lost. */
    public void disconnect(int client) {
        for (Map.Entry<String, TreeSet<Integer>> entry : watches.entrySet()) {
            entry.getValue().remove(client);
        }
        watches.values().removeIf(TreeSet::isEmpty);
    }

    /** Returns those of the paths that a client watched on another connection whose deletion it has missed. */
    public List<String> missed(Collection<String> watched) {
        return watched.stream().filter(path -> !tree.nodes().containsKey(path)).toList();
    }
}
