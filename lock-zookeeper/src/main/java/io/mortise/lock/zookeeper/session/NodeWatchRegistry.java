// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
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
        /**
         * Handles the deletion of a node.
         *
         * @param released whether its owner, a contender of the same session, was deleting the node
         */
        void nodeDeleted(String path, boolean released);

        /** Handles any other event of a node. The watch has been triggered and is no longer registered. */
        void nodeChanged(String path);
    }

    private static final Logger log = LoggerFactory.getLogger(NodeWatchRegistry.class);

    /**
     * Not a monitor: requests are sent while it is held, and ZooKeeper's client takes one of its own locks for each request.
     */
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Set<Listener>> listeners = new HashMap<>();

    /**
     * The nodes that their owners are deleting. Not under the lock: the client of a dead handle answers a delete at once, on the
     * sender's thread and under its own locks, which another sender takes while it holds this one.
     */
    private final Set<String> releasing = ConcurrentHashMap.newKeySet();

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
    public void add(String path, Listener listener, Runnable registration) {
        lock.lock();
        try {
            add(path, listener);
            registration.run();
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

    /** Records that the owner of a node is about to delete it. */
    public void beginRelease(String path) {
        releasing.add(path);
    }

    /** Records that the deletion has a reply, or will have none. An event of the deletion has arrived before the reply. */
    public void endRelease(String path) {
        releasing.remove(path);
    }

    void dispatch(WatchedEvent event) {
        String path = event.getPath();
        boolean deleted = event.getType() == EventType.NodeDeleted;
        boolean released = releasing.contains(path);
        List<Listener> notified;
        lock.lock();
        try {
            Set<Listener> onPath = deleted ? listeners.remove(path) : listeners.get(path);
            notified = onPath == null ? List.of() : List.copyOf(onPath);
        } finally {
            lock.unlock();
        }
        notify(notified, listener -> {
            if (deleted) {
                listener.nodeDeleted(path, released);
            } else {
                listener.nodeChanged(path);
            }
        });
    }

    /** Notifies all listeners, even if one of them throws. */
    static <L> void notify(Collection<L> listeners, Consumer<L> notification) {
        for (L listener : listeners) {
            try {
                notification.accept(listener);
            } catch (RuntimeException | Error e) {
                log.error("event=watch-listener-failed", e);
            }
        }
    }
}
