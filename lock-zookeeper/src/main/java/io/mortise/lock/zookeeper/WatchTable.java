// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

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

/** Who of this session listens to which node. One watcher stands behind it, so the client keeps one watch a node. */
final class WatchTable {
    /** One ticket's ears. Called on the event thread; returns at once. */
    interface Listener {
        /** Whether this is its own node, and it is giving it up. */
        boolean gaveUp(String path);

        /**
         * The node is no more.
         *
         * @param givenUp by a listener of this table
         */
        void deleted(String path, boolean givenUp);

        /** The watch fired for another reason, and is used up. */
        void changed(String path);

        /** The same session has a new connection. */
        void reconnected();

        /** The session is no more. */
        void sessionOver();
    }

    private static final Logger log = LoggerFactory.getLogger(WatchTable.class);

    /** No monitor: requests are sent under it, and ZooKeeper's client takes a lock of its own for each. */
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Set<Listener>> listeners = new HashMap<>();

    void add(String path, Listener listener) {
        lock.lock();
        try {
            listeners.computeIfAbsent(path, p -> new LinkedHashSet<>(2)).add(listener);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Listens, and sends the request that arms the watch, in one step: the removal of that watch for another listener is sent
     * before both or not at all.
     */
    <T> T add(String path, Listener listener, Supplier<T> arm) {
        lock.lock();
        try {
            add(path, listener);
            return arm.get();
        } finally {
            lock.unlock();
        }
    }

    void remove(String path, Listener listener) {
        lock.lock();
        try {
            remove(path, listener, () -> {});
        } finally {
            lock.unlock();
        }
    }

    /**
     * Listens no more.
     *
     * @param unwatch sends the request that removes the watch; runs if nobody else listens to the node
     */
    void remove(String path, Listener listener, Runnable unwatch) {
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

    /** How many nodes are listened to. */
    int size() {
        lock.lock();
        try {
            return listeners.size();
        } finally {
            lock.unlock();
        }
    }

    void dispatch(WatchedEvent event) {
        String path = event.getPath();
        boolean deleted = event.getType() == EventType.NodeDeleted;
        List<Listener> told = on(path, deleted);
        boolean givenUp = deleted && told.stream().anyMatch(listener -> listener.gaveUp(path));
        tell(told, listener -> {
            if (deleted) {
                listener.deleted(path, givenUp);
            } else {
                listener.changed(path);
            }
        });
    }

    void reconnected() {
        tell(all(), Listener::reconnected);
    }

    void sessionOver() {
        tell(all(), Listener::sessionOver);
    }

    /** One that fails must not keep the news from the others. */
    private static void tell(Collection<Listener> listeners, Consumer<Listener> news) {
        for (Listener listener : listeners) {
            try {
                news.accept(listener);
            } catch (RuntimeException | Error e) {
                log.error("event=watch-listener-failed", e);
            }
        }
    }

    private List<Listener> on(String path, boolean forGood) {
        lock.lock();
        try {
            Set<Listener> onPath = forGood ? listeners.remove(path) : listeners.get(path);
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
