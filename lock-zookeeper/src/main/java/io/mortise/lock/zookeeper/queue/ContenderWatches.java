// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.zookeeper.session.NodeWatchRegistry;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;

/** Registers and removes the watches that one contender has on its own node and its nearest predecessors. */
final class ContenderWatches {
    private final ContenderNodeStateMachine state;
    private final NodeWatchRegistry.Listener listener;

    ContenderWatches(ContenderNodeStateMachine state, NodeWatchRegistry.Listener listener) {
        this.state = state;
        this.listener = listener;
    }

    /** Adds the listener for the contender's own node. The watch on the server is registered later. */
    void addOwnNode(ZooKeeperSession session, String own) {
        session.watches().add(own, listener);
    }

    /**
     * Registers, after a list, all watches that are missing on this connection. The requests are pipelined.
     *
     * @param nearest the paths of the nearest predecessors
     * @param further whether there are more predecessors than the nearest ones
     * @return completes with false if the contender's own node does not exist any more
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

    /** Tolerates that an ACL forbids reading this predecessor: only the next predecessor must be readable to the contender. */
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
                        () -> session.zooKeeper()
                                .watch(
                                        path,
                                        session,
                                        stat -> state.predecessorWatched(
                                                path,
                                                session.connection(),
                                                session.zooKeeper().isOfThisSession(stat))))
                .thenApply(exists -> {
                    if (!exists) { // deleted between the list and the watch
                        session.watches().remove(path, listener);
                        state.predecessorMissing(path, session.connection());
                    }
                    return exists;
                });
    }

    /** Registers the watch on the contender's own node. Completes with whether the node exists. */
    CompletableFuture<Boolean> watchOwnNode(ZooKeeperSession session) {
        return session.zooKeeper().watch(state.ownNode(), session, stat -> state.ownNodeWatched(session.connection()));
    }

    /**
     * Removes the listeners for predecessors that are all deleted. Their watches have been triggered or will be, so the server
     * keeps none.
     */
    void forgetPredecessors(ZooKeeperSession session) {
        state.clearPredecessors().forEach(path -> session.watches().remove(path, listener));
    }

    /** Removes the watches on the predecessors, including those on the server. */
    void removePredecessors(ZooKeeperSession session) {
        remove(session, state.clearPredecessors());
    }

    /** Removes all watches. The watch on the contender's own node is only removed locally, since that node is being deleted. */
    void removeAll(ZooKeeperSession session) {
        removePredecessors(session);
        state.node().ifPresent(own -> session.watches().remove(own, listener));
    }

    /** Removes the listeners, and the watches on the server unless another contender of the session needs them. */
    private void remove(ZooKeeperSession session, List<String> paths) {
        for (String path : paths) {
            session.watches().remove(path, listener, () -> {
                if (!session.serverDeletesNodes()) {
                    session.zooKeeper().removeWatch(path, session, session.isManaged());
                }
            });
        }
    }
}
