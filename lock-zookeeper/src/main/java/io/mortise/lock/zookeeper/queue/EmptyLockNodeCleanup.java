// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.session.DeferredWatches;
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
 * Deletes lock nodes that this client no longer uses (S17).
 *
 * <p>Names that are used once would pile up otherwise. The server removes empty containers too, but 10,000 a minute at most, and only while its leader keeps up. A node that is used
 * again within {@link #PERIOD} stays, since creating it again costs a round trip. The server refuses to delete a node with
 * children, so a lock node that others use is never touched. Thread-safe.
 */
final class EmptyLockNodeCleanup {
    /** A node is deleted after it has been unused for one to two of these periods. */
    static final Duration PERIOD = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(EmptyLockNodeCleanup.class);

    private final DeferredWatches timer;
    private final Map<String, UnusedLockNode> unused = new ConcurrentHashMap<>();

    /** Whether the ACLs let the client delete: below a restricted base path only the server removes containers. */
    private volatile boolean permitted = true;

    EmptyLockNodeCleanup(LockClock clock) {
        this.timer = new DeferredWatches(clock, PERIOD);
    }

    /** Schedules the deletion of a lock node, below which the client has deleted its own child. */
    void unused(ZooKeeperSession session, String lockNode) {
        if (!permitted || session.hasEnded()) {
            return;
        }
        used(lockNode); // the period starts anew
        UnusedLockNode node = new UnusedLockNode(session, lockNode);
        unused.put(lockNode, node);
        timer.add(node);
    }

    /** Cancels the deletion, since the client is about to create a child. */
    void used(String lockNode) {
        UnusedLockNode before = unused.remove(lockNode);
        if (before != null) {
            timer.remove(before);
        }
    }

    /** Deletes at once what would be deleted later; to be called before the session is closed. Does not wait. */
    void deleteAll() {
        unused.values().forEach(UnusedLockNode::watchOwn);
    }

    /** A lock node, and the session on which it was last used. */
    private final class UnusedLockNode implements DeferredWatches.Held {
        private final ZooKeeperSession session;
        private final String lockNode;

        UnusedLockNode(ZooKeeperSession session, String lockNode) {
            this.session = session;
            this.lockNode = lockNode;
        }

        @Override
        public void watchOwn() {
            if (unused.remove(lockNode, this) && !session.hasEnded()) {
                session.calls().delete(lockNode).whenComplete((existed, failure) -> deletionFailed(failure));
            }
        }

        private void deletionFailed(@Nullable Throwable failure) {
            if (failure == null || ZooKeeperErrors.hasCode(failure, Code.NOTEMPTY)) {
                return;
            }
            if (ZooKeeperErrors.hasCode(failure, Code.NOAUTH)) {
                permitted = false;
            }
            log.debug(
                    "event=empty-lock-node-not-deleted node=\"{}\" cause=\"{}\"",
                    lockNode,
                    StageFailures.unwrap(failure).toString());
        }
    }
}
