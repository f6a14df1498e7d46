// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.zookeeper.session.AsyncZooKeeper;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;

/** Creates the lock nodes below which one client's contenders are queued, and deletes lock nodes that are no longer used. */
public final class LockContainerNodeLifecycle {
    private final LockPaths paths;
    private final List<ACL> acl;
    private final EmptyLockNodeCleanup cleanup;

    /** Sets the base path and the ACL of the lock nodes; sends no request. */
    public LockContainerNodeLifecycle(String basePath, List<ACL> acl, LockClock clock) {
        this.paths = new LockPaths(basePath);
        this.acl = acl;
        this.cleanup = new EmptyLockNodeCleanup(clock);
    }

    /** Returns the paths of the lock nodes. */
    public LockPaths paths() {
        return paths;
    }

    List<ACL> acl() {
        return acl;
    }

    /**
     * Creates a lock node and its first child in one transaction. The lock node must not be created alone, since the server
     * never removes a container that has never had a child. Fails with NODEEXISTS if the lock node exists by now.
     *
     * @param child the prefix of the child's name
     */
    void createWithChild(
            ZooKeeperSession session,
            String lockNode,
            String child,
            byte[] ownerRecord,
            AsyncZooKeeper.ResponseHandler<AsyncZooKeeper.CreatedNode> handler) {
        // Creates the base path only if it is missing: a user who may create locks may lack permissions above the base
        // path.
        AsyncZooKeeper zooKeeper = session.zooKeeper();
        zooKeeper.createInNewContainer(lockNode, child, ownerRecord, acl, (created, failure) -> {
            if (failure == null || !ZooKeeperErrors.hasCode(failure, Code.NONODE)) {
                handler.responded(created, failure);
                return;
            }
            createBasePath(session).whenComplete((done, baseFailure) -> {
                if (baseFailure != null) {
                    handler.responded(null, baseFailure);
                    return;
                }
                try {
                    zooKeeper.createInNewContainer(lockNode, child, ownerRecord, acl, handler);
                } catch (RuntimeException | Error e) { // nobody else would see it
                    handler.responded(null, e);
                }
            });
        });
    }

    private CompletionStage<Boolean> createBasePath(ZooKeeperSession session) {
        CompletionStage<Boolean> created = CompletableFuture.completedFuture(true);
        for (String node : paths.baseNodes()) {
            created =
                    created.thenCompose(done -> session.zooKeeper().createIfMissing(node, acl, CreateMode.PERSISTENT));
        }
        return created;
    }

    /** Cancels the deletion of a lock node, because the client is about to create a child there. */
    void markUsed(String lockNode) {
        cleanup.cancelDeletion(lockNode);
    }

    /** Schedules the deletion of a lock node whose child the client has deleted. */
    void markUnused(ZooKeeperSession session, String lockNode) {
        cleanup.scheduleDeletion(session, lockNode);
    }

    /** Deletes all unused lock nodes now, without waiting. Must be called before the session is closed. */
    public void deleteUnused() {
        cleanup.deleteAll();
    }
}
