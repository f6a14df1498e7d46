// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;

/** Who of this session listens to which node. One watcher stands behind it, so the client keeps one watch a node. */
final class WatchTable {
    /** One ticket's ears. Called on the event thread; returns at once. */
    interface Listener {
        /** The node is no more. */
        void deleted(String path);

        /** The watch fired for another reason, and is used up. */
        void changed(String path);

        /** The same session has a new connection. */
        void reconnected();

        /** The session is no more. */
        void sessionOver();
    }

    @GuardedBy("this")
    private final Map<String, Set<Listener>> listeners = new HashMap<>();

    synchronized void add(String path, Listener listener) {
        listeners.computeIfAbsent(path, p -> new LinkedHashSet<>(2)).add(listener);
    }

    /** Whether nobody listens to the node any more. */
    synchronized boolean remove(String path, Listener listener) {
        Set<Listener> onPath = listeners.get(path);
        if (onPath != null && onPath.remove(listener) && onPath.isEmpty()) {
            listeners.remove(path);
        }
        return !listeners.containsKey(path);
    }

    /** How many nodes are listened to. */
    synchronized int size() {
        return listeners.size();
    }

    void dispatch(WatchedEvent event) {
        String path = event.getPath();
        boolean deleted = event.getType() == EventType.NodeDeleted;
        for (Listener listener : on(path, deleted)) {
            if (deleted) {
                listener.deleted(path);
            } else {
                listener.changed(path);
            }
        }
    }

    void reconnected() {
        all().forEach(Listener::reconnected);
    }

    void sessionOver() {
        all().forEach(Listener::sessionOver);
    }

    private synchronized List<Listener> on(String path, boolean forGood) {
        Set<Listener> onPath = forGood ? listeners.remove(path) : listeners.get(path);
        return onPath == null ? List.of() : List.copyOf(onPath);
    }

    private synchronized Set<Listener> all() {
        Set<Listener> all = new LinkedHashSet<>();
        new ArrayList<>(listeners.values()).forEach(all::addAll);
        return all;
    }
}
