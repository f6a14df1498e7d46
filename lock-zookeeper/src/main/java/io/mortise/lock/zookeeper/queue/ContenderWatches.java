// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.zookeeper.session.NodeWatchRegistry;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;

/** Registers and removes the watches of one contender, on its own node and on its nearest predecessors. */
final class ContenderWatches {
    private final ContenderNodeState state;
    private final NodeWatchRegistry.Listener listener;

    ContenderWatches(ContenderNodeState state, NodeWatchRegistry.Listener listener) {
        this.state = state;
        this.listener = listener;
    }

    /** Adds the listener for the own node; its watch is registered later. */
    void addOwnNode(ZooKeeperSession session, String own) {
        session.watches().add(own, listener);
    }

    /**
     * Registers, after a list, all watches that are missing on this connection, pipelined.
     *
     * @return false if the own node does not exist any more
     */
    CompletableFuture<Boolean> watchPredecessors(ZooKeeperSession session, List<String> nearest, boolean further) {
        remove(session, state.setPredecessors(nearest, further));
        CompletableFuture<Boolean> ownExists = state.isOwnWatchValid(session.connection())
                ? CompletableFuture.completedFuture(true)
                : watchOwnNode(session);
        String next = nearest.get(nearest.size() - 1);
        for (String path : state.unwatchedPredecessors(session.connection())) {
            CompletableFuture<Boolean> watched = path.equals(next)
                    ? watchPredecessor(session, path)
                    : unlessUnreadable(session, path, watchPredecessor(session, path));
            ownExists = ownExists.thenCombine(watched, (own, predecessor) -> own);
        }
        return ownExists;
    }

    /** Of other contenders' nodes only the next predecessor must be readable to us. */
    private CompletableFuture<Boolean> unlessUnreadable(
            ZooKeeperSession session, String path, CompletableFuture<Boolean> watched) {
        return watched.exceptionallyCompose(failure -> {
            if (!ZooKeeperErrors.hasCode(failure, Code.NOAUTH)) {
                return CompletableFuture.failedFuture(failure);
            }
            session.watches().remove(path, listener);
            state.predecessorUnreadable(path);
            return CompletableFuture.completedFuture(true);
        });
    }

    private CompletableFuture<Boolean> watchPredecessor(ZooKeeperSession session, String path) {
        return session.watches()
                .add(
                        path,
                        listener,
                        () -> session.calls()
                                .watch(
                                        path,
                                        session,
                                        stat -> state.predecessorWatched(
                                                path,
                                                session.connection(),
                                                session.calls().isOfThisSession(stat))))
                .thenApply(exists -> {
                    if (!exists) { // deleted between the list and the watch
                        session.watches().remove(path, listener);
                        state.predecessorMissing(path, session.connection());
                    }
                    return exists;
                });
    }

    /** Registers the watch on the own node. Completes with whether the node exists. */
    CompletableFuture<Boolean> watchOwnNode(ZooKeeperSession session) {
        return session.calls().watch(state.ownNode(), session, stat -> state.ownNodeWatched(session.connection()));
    }

    /** Removes the listeners for predecessors that are all deleted: their watches have fired or will, so the server keeps none. */
    void forgetPredecessors(ZooKeeperSession session) {
        state.clearPredecessors().forEach(path -> session.watches().remove(path, listener));
    }

    /** Removes the watches on predecessors, on the server too. */
    void removePredecessors(ZooKeeperSession session) {
        remove(session, state.clearPredecessors());
    }

    /** Removes all watches; that on the own node only locally, since the node is being deleted. */
    void removeAll(ZooKeeperSession session) {
        removePredecessors(session);
        state.node().ifPresent(own -> session.watches().remove(own, listener));
    }

    /** Removes the watches on the server too, unless another contender of the session needs them. */
    private void remove(ZooKeeperSession session, List<String> paths) {
        for (String path : paths) {
            session.watches().remove(path, listener, () -> {
                if (!session.serverDeletesNodes()) {
                    session.calls().removeWatch(path, session, session.isManaged());
                }
            });
        }
    }
}
