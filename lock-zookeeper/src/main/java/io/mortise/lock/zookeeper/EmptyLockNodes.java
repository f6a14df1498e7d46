// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.spi.LateArming;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the lock nodes that this client used last, so that names which are used once do not pile up: the server removes empty
 * containers too, but 10,000 a minute at most, and only while its leader keeps up (S17). A node that is used again within
 * {@link #PERIOD} stays, since making it anew costs a round trip. The server refuses to delete a node with children, so a
 * lock node in use by others is never touched. Thread-safe.
 */
final class EmptyLockNodes {
    /** A node is deleted when it has been unused for one to two of these. */
    static final Duration PERIOD = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(EmptyLockNodes.class);

    private final LateArming later;
    private final Map<String, Unused> unused = new ConcurrentHashMap<>();

    /** Whether the ACLs let us delete: below a restricted base path only the server removes containers. */
    private volatile boolean permitted = true;

    EmptyLockNodes(LockClock clock) {
        this.later = new LateArming(clock, PERIOD);
    }

    /** The client's child of that node is deleted. */
    void left(ZkSession session, String lockNode) {
        if (!permitted || session.isOver()) {
            return;
        }
        used(lockNode); // the time counts anew
        Unused node = new Unused(session, lockNode);
        unused.put(lockNode, node);
        later.add(node);
    }

    /** The client is about to make a child there. */
    void used(String lockNode) {
        Unused before = unused.remove(lockNode);
        if (before != null) {
            later.remove(before);
        }
    }

    /** Deletes at once what would be deleted later; to be called before the session is closed. Not awaited. */
    void deleteAll() {
        unused.values().forEach(Unused::watchOwn);
    }

    /** A lock node, and the session on which it was last used. */
    private final class Unused implements LateArming.Held {
        private final ZkSession session;
        private final String lockNode;

        Unused(ZkSession session, String lockNode) {
            this.session = session;
            this.lockNode = lockNode;
        }

        @Override
        public void watchOwn() {
            if (unused.remove(lockNode, this) && !session.isOver()) {
                session.calls().delete(lockNode).whenComplete((wasThere, failure) -> failed(failure));
            }
        }

        private void failed(@Nullable Throwable failure) {
            if (failure == null || ZkFailure.is(failure, Code.NOTEMPTY)) {
                return;
            }
            if (ZkFailure.is(failure, Code.NOAUTH)) {
                permitted = false;
            }
            log.debug(
                    "event=empty-lock-node-left node=\"{}\" cause=\"{}\"",
                    lockNode,
                    ZkFailure.cause(failure).toString());
        }
    }
}
