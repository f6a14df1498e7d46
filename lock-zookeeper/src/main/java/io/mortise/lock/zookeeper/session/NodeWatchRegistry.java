// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A registry of one session's watch listeners, keyed by the path of the watched node.
 *
 * <p>All listeners share one watcher, so the handle keeps one watch per node.
 */
public final class NodeWatchRegistry {
    /** A listener for events of watched nodes. Called on the event thread; must return at once. */
    public interface Listener {
        /** Returns whether the path is the listener's own node and the listener is releasing that node. */
        boolean isReleasing(String path);

        /**
         * Handles the deletion of a node.
         *
         * @param released whether a listener of this registry released the node
         */
        void nodeDeleted(String path, boolean released);

        /** Handles any other event of a node. The watch has been triggered and is no longer registered. */
        void nodeChanged(String path);

        /** Handles a reconnect of the same session. */
        void reconnected();

        /** Handles the end of the session. */
        void sessionEnded();
    }

    private static final Logger log = LoggerFactory.getLogger(NodeWatchRegistry.class);

    /**
     * Not a monitor: requests are sent while it is held, and ZooKeeper's client takes one of its own locks for each request.
     */
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Set<Listener>> listeners = new HashMap<>();

    NodeWatchRegistry() {}

    /** Adds a listener to a node. */
    public void add(String path, Listener listener) {
        lock.lock();
        try {
            listeners.computeIfAbsent(path, p -> new LinkedHashSet<>(2)).add(listener);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a listener and sends the request that registers the watch, atomically. So a concurrent removal of that watch for
     * another listener is sent either before both or not at all.
     *
     * @param registration sends the request
     */
    public <T> T add(String path, Listener listener, Supplier<T> registration) {
        lock.lock();
        try {
            add(path, listener);
            return registration.get();
        } finally {
            lock.unlock();
        }
    }

    /** Removes a listener from a node, but keeps the watch on the server. */
    public void remove(String path, Listener listener) {
        lock.lock();
        try {
            remove(path, listener, () -> {});
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes a listener from a node.
     *
     * @param unwatch sends the request that removes the watch; called if the node has no other listener
     */
    public void remove(String path, Listener listener, Runnable unwatch) {
        lock.lock();
        try {
            Set<Listener> onPath = listeners.get(path);
            if (onPath != null && onPath.remove(listener) && onPath.isEmpty()) {
                listeners.remove(path);
                unwatch.run();
            }
        } finally {
            lock.unlock();
        }
    }

    void dispatch(WatchedEvent event) {
        String path = event.getPath();
        boolean deleted = event.getType() == EventType.NodeDeleted;
        List<Listener> notified = listeners(path, deleted);
        boolean released = deleted && notified.stream().anyMatch(listener -> listener.isReleasing(path));
        notify(notified, listener -> {
            if (deleted) {
                listener.nodeDeleted(path, released);
            } else {
                listener.nodeChanged(path);
            }
        });
    }

    void reconnected() {
        notify(all(), Listener::reconnected);
    }

    void sessionEnded() {
        notify(all(), Listener::sessionEnded);
    }

    /** Notifies all listeners, even if one of them throws. */
    private static void notify(Collection<Listener> listeners, Consumer<Listener> notification) {
        for (Listener listener : listeners) {
            try {
                notification.accept(listener);
            } catch (RuntimeException | Error e) {
                log.error("event=watch-listener-failed", e);
            }
        }
    }

    private List<Listener> listeners(String path, boolean remove) {
        lock.lock();
        try {
            Set<Listener> onPath = remove ? listeners.remove(path) : listeners.get(path);
            return onPath == null ? List.of() : List.copyOf(onPath);
        } finally {
            lock.unlock();
        }
    }

    private Set<Listener> all() {
        lock.lock();
        try {
            Set<Listener> all = new LinkedHashSet<>();
            new ArrayList<>(listeners.values()).forEach(all::addAll);
            return all;
        } finally {
            lock.unlock();
        }
    }
}
