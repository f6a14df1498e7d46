// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.zookeeper.session.AsyncZooKeeper;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Creates, finds and deletes the ZooKeeper node of one contender, and updates its {@link ContenderNodeStateMachine}. */
final class ContenderNodeOperations {
    private final LockContainerNodeLifecycle lockNodes;
    private final ContenderNodeStateMachine state;
    private final ContenderWatches watches;
    private final String lockNode;
    private final String prefix;
    private final LockRequest request;

    ContenderNodeOperations(
            LockContainerNodeLifecycle lockNodes,
            LockRequest request,
            ContenderNodeStateMachine state,
            ContenderWatches watches) {
        this.lockNodes = lockNodes;
        this.state = state;
        this.watches = watches;
        this.lockNode = lockNodes.paths().lockNode(request.name());
        this.prefix = ContenderNode.prefix(request.attemptId());
        this.request = request;
    }

    /**
     * Creates the node and lists the queue. Both requests are pipelined in one round trip; a missing lock node takes a second
     * one.
     *
     * @return the names of the lock node's children; empty if the creation must be repeated
     */
    CompletionStage<Optional<List<String>>> create(ZooKeeperSession session) {
        lockNodes.markUsed(lockNode);
        byte[] record = request.ownerRecord().getBytes(StandardCharsets.UTF_8);
        CompletableFuture<AsyncZooKeeper.CreatedNode> created = session.zooKeeper()
                .create(lockNode + "/" + prefix, record, lockNodes.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listed = session.zooKeeper().children(lockNode);
        return created.handle((node, failure) -> failure != null && ZooKeeperErrors.hasCode(failure, Code.NONODE)
                        ? createWithLockNode(session, record)
                        : onCreated(session, node, failure, listed))
                .thenCompose(children -> children);
    }

    private CompletionStage<Optional<List<String>>> createWithLockNode(ZooKeeperSession session, byte[] record) {
        return lockNodes
                .createWithChild(session, lockNode, prefix, record)
                .handle((node, failure) -> {
                    if (failure != null && ZooKeeperErrors.hasCode(failure, Code.NODEEXISTS)) {
                        state.markNotCreated(); // another contender has created the lock node meanwhile
                        return CompletableFuture.completedFuture(Optional.<List<String>>empty());
                    }
                    return onCreated(session, node, failure, session.zooKeeper().children(lockNode));
                })
                .thenCompose(children -> children);
    }

    private CompletableFuture<Optional<List<String>>> onCreated(
            ZooKeeperSession session,
            AsyncZooKeeper.@Nullable CreatedNode node,
            @Nullable Throwable failure,
            CompletableFuture<List<String>> listed) {
        if (node != null) {
            markCreated(session, node.path(), node.czxid());
            return listed.thenApply(Optional::of);
        }
        Throwable cause = Objects.requireNonNull(failure);
        if (!(ZooKeeperErrors.toLockException(cause, "", "") instanceof BackendUnavailableException)) {
            state.markNotCreated(); // after any other failure the node may exist
        }
        return CompletableFuture.failedFuture(cause);
    }

    private void markCreated(ZooKeeperSession session, String path, long czxid) {
        state.markCreated(path, czxid);
        watches.addOwnNode(session, path);
    }

    /** Finds out by the attempt id in the node's name whether a create request whose reply was lost has created a node. */
    CompletionStage<?> find(ZooKeeperSession session) {
        return session.zooKeeper().queue(lockNode, true).thenCompose(children -> {
            Optional<String> own = ownNode(children);
            if (own.isEmpty()) {
                state.markNotCreated();
                return CompletableFuture.completedFuture(false);
            }
            return session.zooKeeper().data(own.get()).thenApply(data -> {
                markCreated(session, own.get(), data.stat().getCzxid());
                return true;
            });
        });
    }

    private Optional<String> ownNode(List<String> children) {
        return children.stream()
                .filter(child -> child.startsWith(prefix))
                .map(child -> lockNode + "/" + child)
                .findFirst();
    }

    /** Deletes the node, and searches for it first if its name is unknown. Completes with whether the node existed. */
    CompletionStage<Boolean> delete(ZooKeeperSession session) {
        Optional<String> own = state.node();
        return own.isPresent()
                ? session.zooKeeper().delete(own.get())
                : session.zooKeeper()
                        .queue(lockNode, true)
                        .thenCompose(children -> ownNode(children)
                                .map(found -> session.zooKeeper().delete(found))
                                .orElseGet(() -> CompletableFuture.completedFuture(false)));
    }

    /** Schedules the deletion of the lock node, unless this client uses the lock node again before that. */
    void scheduleLockNodeDeletion(ZooKeeperSession session) {
        lockNodes.markUnused(session, lockNode);
    }
}
