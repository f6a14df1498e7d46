// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The view that a queued contender has of the nodes ahead of its own, and its watches. An immutable value.
 *
 * <p>The number of predecessors of a node only ever decreases. So the node has no predecessor once all nodes that any list,
 * however old, showed as predecessors are known to be deleted.
 *
 * @param ownWatch the connection on which the watch on the contender's own node was registered
 * @param nearest the nearest predecessors that may still exist, in the order of the queue
 * @param further whether there are, or may be, predecessors beyond those
 * @param unreadable whether an ACL forbids watching one of the nearest predecessors, so that it counts as a further one
 */
record WatchedQueue(long ownWatch, List<Predecessor> nearest, boolean further, boolean unreadable) {
    /**
     * The number of predecessors that are watched. After the deletion of the second-nearest one, there is time to list the
     * queue before the nearest one is deleted.
     */
    static final int MAX_WATCHED = 2;

    /** The connection of a watch that is not registered. */
    static final long NEVER = -1;

    /** Before the first list. */
    static final WatchedQueue UNKNOWN = new WatchedQueue(NEVER, List.of(), true, false);

    /**
     * A node ahead.
     *
     * @param watch the connection on which the watch on it was registered
     * @param sameSession whether it belongs, or may belong, to the contender's own session
     */
    record Predecessor(String path, long watch, boolean sameSession) {
        static Predecessor unwatched(String path) {
            return new Predecessor(path, NEVER, true);
        }
    }

    /**
     * Takes the predecessors that a list showed.
     *
     * @param paths the paths of the nearest predecessors
     * @param more whether there are more predecessors than these
     */
    WatchedQueue listed(List<String> paths, boolean more) {
        List<Predecessor> next = new ArrayList<>(paths.size());
        for (String path : paths) {
            Predecessor known = find(path);
            next.add(known != null ? known : Predecessor.unwatched(path));
        }
        return new WatchedQueue(ownWatch, List.copyOf(next), more, false);
    }

    private @Nullable Predecessor find(String path) {
        for (Predecessor each : nearest) {
            if (each.path.equals(path)) {
                return each;
            }
        }
        return null;
    }

    boolean contains(String path) {
        return find(path) != null;
    }

    /** Returns whether this is the node directly ahead. */
    boolean isNext(String path) {
        return !nearest.isEmpty() && nearest.get(nearest.size() - 1).path.equals(path);
    }

    /** The contender's own node exists, and is watched on this connection; or no longer watched, if that is {@link #NEVER}. */
    WatchedQueue withOwnWatch(long connection) {
        return new WatchedQueue(connection, nearest, further, unreadable);
    }

    /** This predecessor exists, and is watched on this connection. */
    WatchedQueue watched(String path, long connection, boolean sameSession) {
        return with(path, known -> new Predecessor(path, connection, sameSession));
    }

    /** The one-time watch on this predecessor was triggered by an event other than a deletion. */
    WatchedQueue changed(String path) {
        return with(path, known -> Predecessor.unwatched(path));
    }

    private WatchedQueue with(String path, UnaryOperator<Predecessor> change) {
        return new WatchedQueue(
                ownWatch,
                nearest.stream()
                        .map(each -> each.path.equals(path) ? change.apply(each) : each)
                        .toList(),
                further,
                unreadable);
    }

    /** This predecessor had already been deleted when its watch was to be registered. */
    WatchedQueue missing(String path) {
        return new WatchedQueue(ownWatch, others(path), further, unreadable);
    }

    /**
     * An ACL forbids watching this predecessor. It then counts as a further one, so the contender must list the queue after the
     * nearer predecessor's deletion.
     */
    WatchedQueue forbidden(String path) {
        return new WatchedQueue(ownWatch, others(path), true, true);
    }

    /**
     * This predecessor was deleted.
     *
     * <p>When a session ends, the server deletes all its nodes in one step and sends the notifications in any order. So if a
     * node of the contender's own session was deleted without a release, the notification about the contender's node may still
     * follow. Such a deletion is only a reason to list the queue.
     *
     * @param released whether the node's owner is known to have released it
     */
    WatchedQueue deleted(String path, boolean released) {
        Predecessor known = find(path);
        return known == null
                ? this
                : new WatchedQueue(ownWatch, others(path), further || (known.sameSession && !released), unreadable);
    }

    private List<Predecessor> others(String path) {
        return nearest.stream().filter(each -> !each.path.equals(path)).toList();
    }

    /** Returns the predecessors that are not watched on this connection. */
    List<String> unwatchedOn(long connection) {
        return nearest.stream()
                .filter(each -> each.watch != connection)
                .map(Predecessor::path)
                .toList();
    }

    /**
     * Returns whether the contender's node is the head of the queue: it is known to exist while no predecessor exists. On the
     * connection on which the own watch was registered, events arrive in the server's order: if the own node had been deleted
     * before the last predecessor, its event would have arrived first. After a reconnect events arrive in any order, and a
     * watch that was registered before proves nothing.
     *
     * @param connection the connection of the latest event
     */
    boolean isHead(long connection) {
        return nearest.isEmpty() && !further && ownWatch == connection;
    }

    /** Returns whether fewer predecessors are watched than possible, because one was deleted since the last list. */
    boolean shouldListAgain() {
        return further && nearest.size() < (unreadable ? MAX_WATCHED - 1 : MAX_WATCHED);
    }
}
