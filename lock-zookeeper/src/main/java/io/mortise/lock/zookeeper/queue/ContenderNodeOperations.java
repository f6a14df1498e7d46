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

/** Creates, finds and deletes the node of one contender, and keeps its state up to date. */
final class ContenderNodeOperations {
    private final LockNodeLifecycle lockNodes;
    private final ContenderNodeState state;
    private final ContenderWatches watches;
    private final String lockNode;
    private final String prefix;
    private final LockRequest request;

    ContenderNodeOperations(
            LockNodeLifecycle lockNodes, LockRequest request, ContenderNodeState state, ContenderWatches watches) {
        this.lockNodes = lockNodes;
        this.state = state;
        this.watches = watches;
        this.lockNode = lockNodes.paths().lockNode(request.name());
        this.prefix = ContenderNode.prefix(request.attemptId());
        this.request = request;
    }

    /**
     * Creates the node and lists the queue, pipelined in one round trip; in two if the lock node is missing.
     *
     * @return the children of the lock node; empty if the creation must be repeated
     */
    CompletionStage<Optional<List<String>>> create(ZooKeeperSession session) {
        lockNodes.markUsed(lockNode);
        byte[] record = request.ownerRecord().getBytes(StandardCharsets.UTF_8);
        CompletableFuture<AsyncZooKeeper.CreatedNode> created = session.calls()
                .create(lockNode + "/" + prefix, record, lockNodes.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listed = session.calls().children(lockNode);
        return created.handle((node, failure) -> failure != null && ZooKeeperErrors.hasCode(failure, Code.NONODE)
                        ? createWithLockNode(session, record)
                        : created(session, node, failure, listed))
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
                    return created(session, node, failure, session.calls().children(lockNode));
                })
                .thenCompose(children -> children);
    }

    private CompletableFuture<Optional<List<String>>> created(
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
            state.markNotCreated(); // otherwise it may exist
        }
        return CompletableFuture.failedFuture(cause);
    }

    private void markCreated(ZooKeeperSession session, String path, long czxid) {
        state.markCreated(path, czxid);
        watches.addOwnNode(session, path);
    }

    /** Finds out whether a create whose reply was lost has made a node: its name contains the attempt id. */
    CompletionStage<?> find(ZooKeeperSession session) {
        return session.calls().queue(lockNode, true).thenCompose(children -> {
            Optional<String> own = ownNode(children);
            if (own.isEmpty()) {
                state.markNotCreated();
                return CompletableFuture.completedFuture(false);
            }
            return session.calls().data(own.get()).thenApply(data -> {
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

    /** Deletes the node, after a search for it if its name is not known. Completes with whether it existed. */
    CompletionStage<Boolean> delete(ZooKeeperSession session) {
        Optional<String> own = state.node();
        return own.isPresent()
                ? session.calls().delete(own.get())
                : session.calls()
                        .queue(lockNode, true)
                        .thenCompose(children -> ownNode(children)
                                .map(found -> session.calls().delete(found))
                                .orElseGet(() -> CompletableFuture.completedFuture(false)));
    }

    /** Has the lock node deleted soon, if nobody uses it until then. */
    void lockNodeUnused(ZooKeeperSession session) {
        lockNodes.markUnused(session, lockNode);
    }
}
