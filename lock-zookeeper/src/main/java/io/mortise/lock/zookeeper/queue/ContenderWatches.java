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
    void addOwnNode(ZooKeeperSession on, String own) {
        on.watches().add(own, listener);
    }

    /**
     * Registers, after a list, all watches that are missing on this connection, pipelined.
     *
     * @return false if the own node does not exist any more
     */
    CompletableFuture<Boolean> watchPredecessors(ZooKeeperSession on, List<String> nearest, boolean further) {
        remove(on, state.setPredecessors(nearest, further));
        CompletableFuture<Boolean> ownExists =
                state.isOwnWatchValid(on.connection()) ? CompletableFuture.completedFuture(true) : watchOwnNode(on);
        String next = nearest.get(nearest.size() - 1);
        for (String path : state.unwatchedPredecessors(on.connection())) {
            CompletableFuture<Boolean> watched = path.equals(next)
                    ? watchPredecessor(on, path)
                    : unlessUnreadable(on, path, watchPredecessor(on, path));
            ownExists = ownExists.thenCombine(watched, (own, predecessor) -> own);
        }
        return ownExists;
    }

    /** Of other contenders' nodes only the next predecessor must be readable to us. */
    private CompletableFuture<Boolean> unlessUnreadable(
            ZooKeeperSession on, String path, CompletableFuture<Boolean> watched) {
        return watched.exceptionallyCompose(failure -> {
            if (!ZooKeeperErrors.hasCode(failure, Code.NOAUTH)) {
                return CompletableFuture.failedFuture(failure);
            }
            on.watches().remove(path, listener);
            state.predecessorUnreadable(path);
            return CompletableFuture.completedFuture(true);
        });
    }

    private CompletableFuture<Boolean> watchPredecessor(ZooKeeperSession on, String path) {
        return on.watches()
                .add(
                        path,
                        listener,
                        () -> on.calls()
                                .watch(
                                        path,
                                        on,
                                        stat -> state.predecessorWatched(
                                                path,
                                                on.connection(),
                                                on.calls().isOfThisSession(stat))))
                .thenApply(exists -> {
                    if (!exists) { // deleted between the list and the watch
                        on.watches().remove(path, listener);
                        state.predecessorMissing(path, on.connection());
                    }
                    return exists;
                });
    }

    /** Registers the watch on the own node. Completes with whether the node exists. */
    CompletableFuture<Boolean> watchOwnNode(ZooKeeperSession on) {
        return on.calls().watch(state.ownNode(), on, stat -> state.ownNodeWatched(on.connection()));
    }

    /** Removes the listeners for predecessors that are all deleted: their watches have fired or will, so the server keeps none. */
    void forgetPredecessors(ZooKeeperSession on) {
        state.clearPredecessors().forEach(path -> on.watches().remove(path, listener));
    }

    /** Removes the watches on predecessors, on the server too. */
    void removePredecessors(ZooKeeperSession on) {
        remove(on, state.clearPredecessors());
    }

    /** Removes all watches; that on the own node only locally, since the node is being deleted. */
    void removeAll(ZooKeeperSession on) {
        removePredecessors(on);
        state.node().ifPresent(own -> on.watches().remove(own, listener));
    }

    /** Removes the watches on the server too, unless another contender of the session needs them. */
    private void remove(ZooKeeperSession on, List<String> paths) {
        for (String path : paths) {
            on.watches().remove(path, listener, () -> {
                if (!on.serverDeletesNodes()) {
                    on.calls().removeWatch(path, on, on.isManaged());
                }
            });
        }
    }
}
