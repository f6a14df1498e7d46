// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The known state of a contender's node, of its nearest predecessors in the queue, and of the watches on them. Decides what an
 * event means, without I/O and without calls to other objects.
 *
 * <p>The predecessors of a node can only become fewer. So once each node that any list showed as a predecessor, however old that
 * list is, is known to be deleted, the node has no predecessor.
 */
final class ContenderNodeState {
    /** How many predecessors are watched. The deletion of the second one leaves time to list the queue before the first one's. */
    static final int MAX_WATCHED = 2;

    private static final long NEVER = -1;

    /**
     * The watch on a predecessor.
     *
     * @param connection the connection on which it was registered
     * @param sameSession whether the predecessor is, or may be, a node of our own session
     */
    private record PredecessorWatch(long connection, boolean sameSession) {
        static final PredecessorWatch NONE = new PredecessorWatch(NEVER, true);
    }

    /** What the contender must do after an event. */
    enum Reaction {
        NONE,
        /** Ask the core to call attempt() again. */
        ASK_AGAIN,
        /** Report that the grant is lost. */
        REPORT_LOSS
    }

    /** A create was sent whose outcome is unknown: the node may exist. */
    @GuardedBy("this")
    private boolean mayExist;

    @GuardedBy("this")
    private @Nullable String node;

    @GuardedBy("this")
    private long czxid;

    /** The connection on which the watch on the own node was registered. */
    @GuardedBy("this")
    private long ownWatchConnection = NEVER;

    /** The nearest predecessors that may exist. */
    @GuardedBy("this")
    private final Map<String, PredecessorWatch> predecessors = new HashMap<>(4);

    /** One of the nearest predecessors may not be watched by us, so it counts as a further one. */
    @GuardedBy("this")
    private boolean unreadable;

    /** There are, or may be, further predecessors. */
    @GuardedBy("this")
    private boolean furtherPredecessors = true;

    @GuardedBy("this")
    private boolean headOfQueue;

    @GuardedBy("this")
    private boolean granted;

    /** Somebody else deleted our node. */
    @GuardedBy("this")
    private boolean deleted;

    @GuardedBy("this")
    private boolean releasing;

    /** Records that a create is about to be sent. Returns false if nothing may be created any more. */
    synchronized boolean beginCreate() {
        mayExist |= !releasing;
        return !releasing;
    }

    /** Records that no node exists, and that none will be created by an earlier request. */
    synchronized void markNotCreated() {
        mayExist = false;
    }

    synchronized void markCreated(String path, long createdZxid) {
        node = path;
        czxid = createdZxid;
        mayExist = false;
    }

    /** Records that from now on nothing is created and no event matters. Returns whether there may be a node to delete. */
    synchronized boolean beginRelease() {
        releasing = true;
        return node != null || mayExist;
    }

    synchronized boolean mayExist() {
        return mayExist;
    }

    synchronized Optional<String> node() {
        return Optional.ofNullable(node);
    }

    synchronized String ownNode() {
        if (node == null) {
            throw new IllegalStateException("no node yet");
        }
        return node;
    }

    /** Returns whether somebody else deleted our node. */
    synchronized boolean isDeleted() {
        return deleted;
    }

    /** Returns whether events have shown that our node is the head of the queue. No list is needed then to grant the lock. */
    synchronized boolean isHeadOfQueue() {
        return headOfQueue;
    }

    /** Grants the lock. Returns the token; empty if our node was deleted meanwhile. */
    synchronized OptionalLong grant() {
        granted = !deleted;
        headOfQueue = false;
        return granted ? OptionalLong.of(czxid) : OptionalLong.empty();
    }

    /** Returns whether the lock is granted, and its owner has not begun to release it. */
    synchronized boolean isGranted() {
        return granted && !releasing;
    }

    /** Returns whether the watch on our own node is registered on this connection. */
    synchronized boolean isOwnWatchValid(long connection) {
        return ownWatchConnection == connection;
    }

    /** Returns whether all watches are registered on this connection, so that no list can be older than their events. */
    synchronized boolean areAllWatchesValid(long connection) {
        return ownWatchConnection == connection
                && predecessors.values().stream().allMatch(watch -> watch.connection == connection);
    }

    /**
     * Records what a list showed.
     *
     * @param further whether there are more predecessors than the nearest ones
     * @return former predecessors that the list no longer has
     */
    synchronized List<String> setPredecessors(List<String> nearest, boolean further) {
        furtherPredecessors = further;
        unreadable = false;
        List<String> former = predecessors.keySet().stream()
                .filter(path -> !nearest.contains(path))
                .toList();
        predecessors.keySet().removeAll(former);
        nearest.forEach(path -> predecessors.putIfAbsent(path, PredecessorWatch.NONE));
        return former;
    }

    /** Returns the predecessors that are not watched on this connection. */
    synchronized List<String> unwatchedPredecessors(long connection) {
        return predecessors.entrySet().stream()
                .filter(each -> each.getValue().connection != connection)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Returns whether fewer predecessors are watched than could be: one was deleted since the last list. */
    synchronized boolean shouldListAgain() {
        return furtherPredecessors && predecessors.size() < (unreadable ? MAX_WATCHED - 1 : MAX_WATCHED);
    }

    /** Forgets all predecessors, and returns them. */
    synchronized List<String> clearPredecessors() {
        List<String> before = List.copyOf(predecessors.keySet());
        predecessors.clear();
        furtherPredecessors = true;
        return before;
    }

    /** Records that our node exists, and is watched on this connection. */
    synchronized void ownNodeWatched(long connection) {
        ownWatchConnection = connection;
        checkHeadOfQueue(connection);
    }

    synchronized void predecessorWatched(String path, long connection, boolean sameSession) {
        predecessors.computeIfPresent(path, (known, before) -> new PredecessorWatch(connection, sameSession));
    }

    /** Records that we may not watch this one. It counts as a further one then, so after the nearer one's deletion we must list. */
    synchronized void predecessorUnreadable(String path) {
        predecessors.remove(path);
        unreadable = true;
        furtherPredecessors = true;
    }

    /** Records that this one did not exist any more when its watch was to be registered. */
    synchronized void predecessorMissing(String path, long connection) {
        predecessors.remove(path);
        checkHeadOfQueue(connection);
    }

    /**
     * We are the head if our node exists while no predecessor does. If our own watch was registered on this connection, all that
     * arrived on it arrived in the server's order: had our node been deleted before the last predecessor, we would have been
     * notified of that first. After a reconnect events arrive in any order, and a watch from before it proves nothing.
     */
    @GuardedBy("this")
    private void checkHeadOfQueue(long connection) {
        headOfQueue |= predecessors.isEmpty()
                && !furtherPredecessors
                && ownWatchConnection == connection
                && !deleted
                && !granted;
    }

    /** Returns whether this is our own node, and its owner is releasing it. */
    synchronized boolean isReleasing(String path) {
        return releasing && path.equals(node);
    }

    /**
     * Records that a watched node was deleted. If it was the last predecessor, that may be the grant itself.
     *
     * <p>When a session ends, the server deletes all its nodes in one step and notifies about them in any order. So if a node of
     * our own session was deleted that nobody released, our node may be about to follow: that is only a reason to list.
     *
     * @param released whether its owner is known to have released it
     */
    synchronized Reaction nodeDeleted(String path, long connection, boolean released) {
        if (releasing) {
            return Reaction.NONE;
        }
        if (path.equals(node)) {
            boolean known = deleted;
            deleted = true;
            return known ? Reaction.NONE : granted ? Reaction.REPORT_LOSS : Reaction.ASK_AGAIN;
        }
        PredecessorWatch watch = predecessors.remove(path);
        if (watch == null) {
            return Reaction.NONE;
        }
        furtherPredecessors |= watch.sameSession && !released;
        checkHeadOfQueue(connection);
        // otherwise a watched predecessor remains, and its deletion will be the grant
        return furtherPredecessors || predecessors.isEmpty() ? Reaction.ASK_AGAIN : Reaction.NONE;
    }

    /** Records that a watch fired for another reason, and is used up. */
    synchronized void watchUsedUp(String path) {
        if (path.equals(node)) {
            ownWatchConnection = NEVER;
        } else {
            predecessors.computeIfPresent(path, (known, before) -> PredecessorWatch.NONE);
        }
    }
}
