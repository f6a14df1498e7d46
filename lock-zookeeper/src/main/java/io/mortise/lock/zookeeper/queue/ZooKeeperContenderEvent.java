// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Something that happens to one contender: a call of the core, the outcome of a request, or a notice of the session.
 *
 * <p>A connection is a number that increases with each disconnect and reconnect. Events of one connection come in the order in
 * which the server sent them.
 */
sealed interface ZooKeeperContenderEvent {
    /** The core requests the grant. */
    record Attempt() implements ZooKeeperContenderEvent {}

    /** The core ends the contender: a release, or a withdrawal. */
    record End() implements ZooKeeperContenderEvent {}

    /** The core gives up a removal that has failed for a whole session timeout. */
    record Abandon() implements ZooKeeperContenderEvent {}

    /** The session is ready for requests. */
    record SessionReady() implements ZooKeeperContenderEvent {}

    /** There is no session. */
    record NoSession(Throwable failure) implements ZooKeeperContenderEvent {}

    /** The outcome of a request. The contender may have ended meanwhile. */
    sealed interface Response extends ZooKeeperContenderEvent {}

    /** A request had no response, or the server refused it. */
    sealed interface Failed extends Response {
        Throwable failure();

        default boolean hasCode(Code code) {
            return ZooKeeperErrors.hasCode(failure(), code);
        }
    }

    /** The contender's node was created by this transaction. */
    record Created(String path, long czxid) implements Response {}

    /** The contender's node was not created, or it is unknown whether it was. */
    record CreateFailed(Throwable failure) implements Failed {
        /** Returns whether the server may have created the node. */
        boolean mayHaveCreated() {
            boolean pathConflict = hasCode(Code.NONODE) || hasCode(Code.NODEEXISTS);
            return !pathConflict && ZooKeeperErrors.isOutcomeUnknown(failure);
        }
    }

    /** The children of the lock's node, which a server had on this connection; none if the lock has no node. */
    record Listed(List<String> children, long connection) implements Response {}

    /** There is no list. */
    record ListFailed(Throwable failure) implements Failed {}

    /** The contender's node, which a list showed, was created by this transaction. */
    record NodeRead(long czxid) implements Response {}

    /** The contender's node, which a list showed, was not read. */
    record ReadFailed(Throwable failure) implements Failed {}

    /**
     * The node exists, and a watch on it is registered on this connection.
     *
     * @param sameSession whether the node belongs to the contender's session
     */
    record Watched(String path, long connection, boolean sameSession) implements Response {}

    /** No watch was registered, for example because the node does not exist. */
    record WatchFailed(String path, long connection, Throwable failure) implements Failed {}

    /**
     * The contender's node does not exist any more.
     *
     * @param existed whether this request deleted it
     */
    record Removed(boolean existed) implements Response {}

    /** It is unknown whether the contender's node was deleted, or the server refused that. */
    record RemovalFailed(Throwable failure) implements Failed {}

    /** Something that may happen at any time, also without a request. */
    sealed interface Notice extends ZooKeeperContenderEvent {}

    /**
     * A node that is, or was, watched was deleted.
     *
     * @param released whether a contender of the same client was deleting it as its own
     */
    record NodeDeleted(String path, long connection, boolean released) implements Notice {}

    /** The one-time watch on a node was triggered by another event than its deletion. */
    record NodeChanged(String path) implements Notice {}

    /** The session has a new connection. */
    record Reconnected(long connection) implements Notice {}

    /** The time of {@link ZooKeeperContenderEffect.Plain#DEFER_REMOVAL} is over. */
    record RemovalDue() implements Notice {}

    /** The grant has been held for long enough to be watched. */
    record WatchDue(long connection) implements Notice {}

    /**
     * The session has ended for leases and waiters.
     *
     * @param serverDeletesNode whether the server deletes the contender's node without a request
     */
    record SessionEnded(boolean serverDeletesNode) implements Notice {}
}
