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
 * Tracks what one contender knows about its node, its nearest predecessors and the watches on them.
 *
 * <p>It decides how the contender reacts to an event, without I/O and without calls to other objects.
 *
 * <p>The number of predecessors of a node only ever decreases. So the node has no predecessor once all nodes that any list,
 * however old, showed as predecessors are known to be deleted.
 */
final class ContenderNodeStateMachine {
    /**
     * The number of predecessors that are watched. After the deletion of the second-nearest one, there is time to list the
     * queue before the nearest one is deleted.
     */
    static final int MAX_WATCHED = 2;

    private static final long NEVER = -1;

    /**
     * The watch on a predecessor.
     *
     * @param connection the number of the connection on which the watch was registered
     * @param sameSession whether the predecessor belongs, or may belong, to the contender's own session
     */
    private record PredecessorWatch(long connection, boolean sameSession) {
        static final PredecessorWatch NONE = new PredecessorWatch(NEVER, true);
    }

    /** The action that the contender must take after an event. */
    enum Reaction {
        NONE,
        /** Make the core call {@code attempt()} again. */
        RETRY_ATTEMPT,
        /** Report that the grant is lost. */
        REPORT_LOSS
    }

    /** Whether the node may exist, because a create request was sent whose outcome is unknown. */
    @GuardedBy("this")
    private boolean mayExist;

    @GuardedBy("this")
    private @Nullable String node;

    @GuardedBy("this")
    private long czxid;

    /** The number of the connection on which the watch on the contender's own node was registered. */
    @GuardedBy("this")
    private long ownWatchConnection = NEVER;

    /** The nearest predecessors that may still exist, by path. */
    @GuardedBy("this")
    private final Map<String, PredecessorWatch> predecessors = new HashMap<>(4);

    /** Whether an ACL forbids watching one of the nearest predecessors, so that it counts as a further one. */
    @GuardedBy("this")
    private boolean unreadable;

    /** Whether there are, or may be, predecessors beyond {@link #predecessors}. */
    @GuardedBy("this")
    private boolean furtherPredecessors = true;

    @GuardedBy("this")
    private boolean headOfQueue;

    @GuardedBy("this")
    private boolean granted;

    /** Whether the contender's node was deleted, though not by the contender. */
    @GuardedBy("this")
    private boolean deleted;

    @GuardedBy("this")
    private boolean releasing;

    /** Records that a create request is about to be sent. Returns false if the release has begun and no node may be created. */
    synchronized boolean beginCreate() {
        mayExist |= !releasing;
        return !releasing;
    }

    /** Records that no node exists, and that no earlier request can still create one. */
    synchronized void markNotCreated() {
        mayExist = false;
    }

    /** Records that the node exists. */
    synchronized void markCreated(String path, long createdZxid) {
        node = path;
        czxid = createdZxid;
        mayExist = false;
    }

    /**
     * Records that the release has begun: no node is created and events are ignored. Returns whether a node may have to be
     * deleted.
     */
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
            throw new IllegalStateException("the contender has no node yet");
        }
        return node;
    }

    /** Returns whether the contender's node was deleted, though not by the contender. */
    synchronized boolean isDeleted() {
        return deleted;
    }

    /**
     * Returns whether events have shown that the contender's node is the head of the queue, so that no list is needed for a
     * grant.
     */
    synchronized boolean isHeadOfQueue() {
        return headOfQueue;
    }

    /** Records the grant, and returns its token; empty if the contender's node was deleted meanwhile. */
    synchronized OptionalLong grant() {
        granted = !deleted;
        headOfQueue = false;
        return granted ? OptionalLong.of(czxid) : OptionalLong.empty();
    }

    /** Returns whether the lock is granted and its release has not begun. */
    synchronized boolean isGranted() {
        return granted && !releasing;
    }

    /** Returns whether the watch on the contender's own node is registered on this connection. */
    synchronized boolean isOwnWatchValid(long connection) {
        return ownWatchConnection == connection;
    }

    /** Returns whether all watches are registered on this connection, so that a list cannot be older than their events. */
    synchronized boolean areAllWatchesValid(long connection) {
        return ownWatchConnection == connection
                && predecessors.values().stream().allMatch(watch -> watch.connection == connection);
    }

    /**
     * Records the predecessors that a list showed.
     *
     * @param nearest the paths of the nearest predecessors
     * @param further whether there are more predecessors than the nearest ones
     * @return the former predecessors that the list no longer contains
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

    /** Returns whether fewer predecessors are watched than possible, because one was deleted since the last list. */
    synchronized boolean shouldListAgain() {
        return furtherPredecessors && predecessors.size() < (unreadable ? MAX_WATCHED - 1 : MAX_WATCHED);
    }

    /** Removes all predecessors, and returns their paths. */
    synchronized List<String> clearPredecessors() {
        List<String> before = List.copyOf(predecessors.keySet());
        predecessors.clear();
        furtherPredecessors = true;
        return before;
    }

    /** Records that the contender's own node exists and is watched on this connection. */
    synchronized void ownNodeWatched(long connection) {
        ownWatchConnection = connection;
        checkHeadOfQueue(connection);
    }

    /** Records that this predecessor exists and is watched on this connection. */
    synchronized void predecessorWatched(String path, long connection, boolean sameSession) {
        predecessors.computeIfPresent(path, (known, before) -> new PredecessorWatch(connection, sameSession));
    }

    /**
     * Records that an ACL forbids watching this predecessor. It then counts as a further one, so the contender must list the
     * queue after the nearer predecessor's deletion.
     */
    synchronized void predecessorUnreadable(String path) {
        predecessors.remove(path);
        unreadable = true;
        furtherPredecessors = true;
    }

    /** Records that this predecessor had already been deleted when its watch was to be registered. */
    synchronized void predecessorMissing(String path, long connection) {
        predecessors.remove(path);
        checkHeadOfQueue(connection);
    }

    /**
     * Records that the contender's node is the head of the queue, if it is known to exist while no predecessor exists. On the
     * connection on which the own watch was registered, events arrive in the server's order: if the own node had been deleted
     * before the last predecessor, its event would have arrived first. After a reconnect events arrive in any order, and a
     * watch that was registered before proves nothing.
     */
    @GuardedBy("this")
    private void checkHeadOfQueue(long connection) {
        headOfQueue |= predecessors.isEmpty()
                && !furtherPredecessors
                && ownWatchConnection == connection
                && !deleted
                && !granted;
    }

    /** Returns whether this is the contender's own node and the contender is releasing it. */
    synchronized boolean isReleasing(String path) {
        return releasing && path.equals(node);
    }

    /**
     * Records that a watched node was deleted. The deletion of the last predecessor may itself be the grant.
     *
     * <p>When a session ends, the server deletes all its nodes in one step and sends the notifications in any order. So if a
     * node of the contender's own session was deleted without a release, the notification about the contender's node may still
     * follow. Such a deletion is only a reason to list the queue.
     *
     * @param released whether the node's owner is known to have released it
     */
    synchronized Reaction nodeDeleted(String path, long connection, boolean released) {
        if (releasing) {
            return Reaction.NONE;
        }
        if (path.equals(node)) {
            boolean alreadyDeleted = deleted;
            deleted = true;
            return alreadyDeleted ? Reaction.NONE : granted ? Reaction.REPORT_LOSS : Reaction.RETRY_ATTEMPT;
        }
        PredecessorWatch watch = predecessors.remove(path);
        if (watch == null) {
            return Reaction.NONE;
        }
        furtherPredecessors |= watch.sameSession && !released;
        checkHeadOfQueue(connection);
        // without further predecessors, a watched predecessor remains, and its deletion will be the grant
        return furtherPredecessors || predecessors.isEmpty() ? Reaction.RETRY_ATTEMPT : Reaction.NONE;
    }

    /** Records that the one-time watch on this node was triggered by an event other than a deletion. */
    synchronized void markUnwatched(String path) {
        if (path.equals(node)) {
            ownWatchConnection = NEVER;
        } else {
            predecessors.computeIfPresent(path, (known, before) -> PredecessorWatch.NONE);
        }
    }
}
