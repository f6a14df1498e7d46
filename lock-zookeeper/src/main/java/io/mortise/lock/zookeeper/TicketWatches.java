// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;

/** The watches of one ticket, on its own node and on those right ahead: armed where they do not stand, and taken back. */
final class TicketWatches {
    private final PlaceInLine place;
    private final WatchTable.Listener listener;

    TicketWatches(PlaceInLine place, WatchTable.Listener listener) {
        this.place = place;
        this.listener = listener;
    }

    /** Hears of the own node from now on, once a watch on it is armed. */
    void listen(ZkSession on, String own) {
        on.watches().add(own, listener);
    }

    /** A list showed these right ahead: arms what does not stand, in one go. False: our own node is gone. */
    CompletableFuture<Boolean> standBehind(ZkSession on, List<String> nearest, boolean others) {
        takeBack(on, place.standBehind(nearest, others));
        CompletableFuture<Boolean> ownThere =
                place.ownStands(on.connection()) ? CompletableFuture.completedFuture(true) : armOwn(on);
        String next = nearest.get(nearest.size() - 1);
        for (String path : place.unarmed(on.connection())) {
            CompletableFuture<Boolean> armed =
                    path.equals(next) ? armAhead(on, path) : orUnreadable(on, path, armAhead(on, path));
            ownThere = ownThere.thenCombine(armed, (own, ahead) -> own);
        }
        return ownThere;
    }

    /** Of somebody else's nodes only the one right ahead must be readable to us. */
    private CompletableFuture<Boolean> orUnreadable(ZkSession on, String path, CompletableFuture<Boolean> armed) {
        return armed.exceptionallyCompose(failure -> {
            if (!ZkFailure.is(failure, Code.NOAUTH)) {
                return CompletableFuture.failedFuture(failure);
            }
            on.watches().remove(path, listener);
            place.aheadUnreadable(path);
            return CompletableFuture.completedFuture(true);
        });
    }

    private CompletableFuture<Boolean> armAhead(ZkSession on, String path) {
        return on.watches()
                .add(
                        path,
                        listener,
                        () -> on.calls()
                                .watch(
                                        path,
                                        on,
                                        stat -> place.aheadArmed(
                                                path,
                                                on.connection(),
                                                on.calls().isOfThisSession(stat))))
                .thenApply(there -> {
                    if (!there) { // between the list and the watch
                        on.watches().remove(path, listener);
                        place.aheadAbsent(path, on.connection());
                    }
                    return there;
                });
    }

    /** False: our node is gone. */
    CompletableFuture<Boolean> armOwn(ZkSession on) {
        return on.calls().watch(place.ownNode(), on, stat -> place.ownArmed(on.connection()));
    }

    /** Nobody is ahead any more, so those watches have fired or will: nothing to remove on the server. */
    void nobodyAhead(ZkSession on) {
        place.leaveAhead().forEach(path -> on.watches().remove(path, listener));
    }

    void forgetAhead(ZkSession on) {
        takeBack(on, place.leaveAhead());
    }

    void forgetAll(ZkSession on) {
        forgetAhead(on);
        place.node().ifPresent(own -> on.watches().remove(own, listener));
    }

    /** On the server too, unless it fired or another waiter of the session needs it. */
    private void takeBack(ZkSession on, List<String> paths) {
        for (String path : paths) {
            on.watches().remove(path, listener, () -> {
                if (!on.nodesAreGone()) {
                    on.calls().removeWatch(path, on, on.owned());
                }
            });
        }
    }
}
