// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

/** Something to do for one contender after an event: send a request, answer the core, or change its watches. */
sealed interface ZooKeeperContenderEffect {
    /** The effects without data. */
    enum Plain implements ZooKeeperContenderEffect {
        /**
         * Wait for the client's session. Leads to {@link ZooKeeperContenderEvent.SessionReady} or
         * {@link ZooKeeperContenderEvent.NoSession}.
         */
        AWAIT_SESSION,

        /**
         * Create the contender's node and list the lock's nodes, in one round trip. Leads to
         * {@link ZooKeeperContenderEvent.Created} and the outcome of the list, or to
         * {@link ZooKeeperContenderEvent.CreateFailed}.
         */
        SEND_CREATE,

        /**
         * Create the lock's node and the contender's node in it. Leads to {@link ZooKeeperContenderEvent.Created} or
         * {@link ZooKeeperContenderEvent.CreateFailed}.
         */
        SEND_CREATE_WITH_LOCK_NODE,

        /** The contender certainly has no node, so the session need not be kept alive for it. */
        DEREGISTER,

        /** The lock's node may be empty, and may be deleted later. */
        LOCK_NODE_UNUSED,

        /** Watch the contender's node later, if the grant is held for long enough. */
        DEFER_WATCH,

        /** Wait a moment before the removal is repeated. Leads to {@link ZooKeeperContenderEvent.RemovalDue}. */
        DEFER_REMOVAL,

        /** Tell the core to make another attempt. */
        WAKE_WAITER,

        /** Tell the core that its grant is lost, since the node was deleted. */
        REPORT_LOSS,

        /** Complete the attempt: another contender comes first. */
        REPORT_WAITING,

        /** Complete the attempt: another client deleted the contender's node. */
        REPORT_NODE_DELETED,

        /** Complete the attempt: the session has ended. */
        REPORT_SESSION_ENDED,

        /** Fail the attempt, because the queue changes faster than it can be listed. */
        FAIL_RESTLESS,

        /** End the session, because a node on it could not be deleted. */
        END_SESSION
    }

    /**
     * List the lock's nodes. Leads to {@link ZooKeeperContenderEvent.Listed} or {@link ZooKeeperContenderEvent.ListFailed}.
     *
     * @param commitFirst whether to send a write before, so that the list shows all that was committed until then. A {@code sync}
     *     is not enough: a leader that was cut off replies to it too. If the connection is lost between the two, the next server
     *     still has no less than the write
     */
    record SendList(boolean commitFirst) implements ZooKeeperContenderEffect {}

    /**
     * Read the status of the contender's node. Leads to {@link ZooKeeperContenderEvent.NodeRead} or
     * {@link ZooKeeperContenderEvent.ReadFailed}.
     */
    record SendRead(String path) implements ZooKeeperContenderEffect {}

    /**
     * Delete the contender's node. Leads to {@link ZooKeeperContenderEvent.Removed} or
     * {@link ZooKeeperContenderEvent.RemovalFailed}.
     */
    record SendRemoval(String path) implements ZooKeeperContenderEffect {}

    /** Receive the events of the contender's own node, also those of watches that others register on it. */
    record Listen(String path) implements ZooKeeperContenderEffect {}

    /** Receive no more events of a node. */
    record Unlisten(String path) implements ZooKeeperContenderEffect {}

    /**
     * Receive the events of a node, and register a watch on it. Leads to {@link ZooKeeperContenderEvent.Watched} or
     * {@link ZooKeeperContenderEvent.WatchFailed}.
     */
    record Watch(String path) implements ZooKeeperContenderEffect {}

    /** Receive no more events of a node, and remove the watch on the server. */
    record Unwatch(String path) implements ZooKeeperContenderEffect {}

    /** Watch the contender's node later again, since that has failed. */
    record RetryWatch(Throwable failure) implements ZooKeeperContenderEffect {}

    /** Complete the attempt with a grant. */
    record ReportGranted(long token) implements ZooKeeperContenderEffect {}

    /** Fail the attempt. */
    record FailAttempt(Throwable failure) implements ZooKeeperContenderEffect {}

    /**
     * Fail the attempt, because the lock's node has used up its sequence numbers. Deletes the contender's node, and then the lock's
     * node if that was the last, so that the numbers start again.
     */
    record FailNumbersUsedUp(String path) implements ZooKeeperContenderEffect {}

    /** Complete the release or the withdrawal with whether there was a node. */
    record ReportEnded(boolean existed) implements ZooKeeperContenderEffect {}

    /** Fail the release or the withdrawal. */
    record FailEnd(Throwable failure) implements ZooKeeperContenderEffect {}

    /** Log that the node of an ended session was not deleted. */
    record LogOrphan(Throwable failure) implements ZooKeeperContenderEffect {}
}
