// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.support.StageFailures;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes empty lock nodes that this client no longer uses. Thread-safe.
 *
 * <p>Rule S17: without the cleanup, the nodes of lock names that are used only once would accumulate. The server removes empty
 * containers too, but at most 10,000 a minute, and only while its leader keeps up. A node that is used again within {@link
 * #PERIOD} is kept, since creating it again costs a round trip. The server refuses to delete a node with children, so a lock
 * node that other clients use is never deleted.
 */
final class EmptyLockNodeCleanup {
    /** The time after which an unused node is deleted; the deletion may come up to one period later. */
    static final Duration PERIOD = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(EmptyLockNodeCleanup.class);

    private final LongHoldWatchScheduler timer;
    private final Map<String, UnusedLockNode> pending = new ConcurrentHashMap<>();

    /** Whether the ACLs permit the client to delete. Below a restricted base path only the server removes containers. */
    private volatile boolean deletionPermitted = true;

    EmptyLockNodeCleanup(LockClock clock) {
        this.timer = new LongHoldWatchScheduler(clock, PERIOD);
    }

    /** Schedules the deletion of a lock node whose child the client has deleted. */
    void scheduleDeletion(ZooKeeperSession session, String lockNode) {
        if (!deletionPermitted || session.hasEnded()) {
            return;
        }
        cancelDeletion(lockNode); // restarts the period
        UnusedLockNode node = new UnusedLockNode(session, lockNode);
        pending.put(lockNode, node);
        timer.add(node);
    }

    /** Cancels the deletion of a lock node, because the client is about to create a child there. */
    void cancelDeletion(String lockNode) {
        UnusedLockNode before = pending.remove(lockNode);
        if (before != null) {
            timer.remove(before);
        }
    }

    /** Deletes all unused lock nodes now, without waiting. Must be called before the session is closed. */
    void deleteAll() {
        pending.values().forEach(UnusedLockNode::registerWatch);
    }

    /** An unused lock node, with the session on which it was last used. */
    private final class UnusedLockNode implements LongHoldWatchScheduler.Held {
        private final ZooKeeperSession session;
        private final String lockNode;

        UnusedLockNode(ZooKeeperSession session, String lockNode) {
            this.session = session;
            this.lockNode = lockNode;
        }

        @Override
        public void registerWatch() {
            if (pending.remove(lockNode, this) && !session.hasEnded()) {
                session.zooKeeper().delete(lockNode).whenComplete((existed, failure) -> onDeletionCompleted(failure));
            }
        }

        private void onDeletionCompleted(@Nullable Throwable failure) {
            if (failure == null || ZooKeeperErrors.hasCode(failure, Code.NOTEMPTY)) {
                return;
            }
            if (ZooKeeperErrors.hasCode(failure, Code.NOAUTH)) {
                deletionPermitted = false;
            }
            log.debug(
                    "event=empty-lock-node-not-deleted node=\"{}\" cause=\"{}\"",
                    lockNode,
                    StageFailures.unwrap(failure).toString());
        }
    }
}
