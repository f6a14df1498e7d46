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

/** Creates the lock nodes of one client, whose children are the contenders, and deletes those that are no longer used. */
public final class LockNodeLifecycle {
    private final LockPaths paths;
    private final List<ACL> acl;
    private final EmptyLockNodeCleanup cleanup;

    /** Creates nothing yet. */
    public LockNodeLifecycle(String basePath, List<ACL> acl, LockClock clock) {
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
     * Creates a lock node and its first child in one transaction: the server never removes a container that has had no child.
     * Fails with NODEEXISTS if the lock node exists by now.
     */
    CompletionStage<AsyncZooKeeper.CreatedNode> createWithChild(
            ZooKeeperSession session, String lockNode, String child, byte[] ownerRecord) {
        // Creates the base path only if it is missing: a user with permission to create locks may have none for what is
        // above.
        return session.calls()
                .createInNewContainer(lockNode, child, ownerRecord, acl)
                .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NONODE)
                        ? createBasePath(session)
                                .thenCompose(
                                        done -> session.calls().createInNewContainer(lockNode, child, ownerRecord, acl))
                                .toCompletableFuture()
                        : CompletableFuture.failedFuture(failure));
    }

    private CompletionStage<Boolean> createBasePath(ZooKeeperSession session) {
        CompletionStage<Boolean> created = CompletableFuture.completedFuture(true);
        for (String node : paths.baseNodes()) {
            created = created.thenCompose(done -> session.calls().ensure(node, acl, CreateMode.PERSISTENT));
        }
        return created;
    }

    /** Keeps a lock node, below which the client is about to create a child. */
    void markUsed(String lockNode) {
        cleanup.used(lockNode);
    }

    /** Has a lock node deleted later, below which the client has deleted its child. */
    void markUnused(ZooKeeperSession session, String lockNode) {
        cleanup.unused(session, lockNode);
    }

    /** Deletes at once what would be deleted later; to be called before the session is closed. Does not wait. */
    public void deleteUnused() {
        cleanup.deleteAll();
    }
}
