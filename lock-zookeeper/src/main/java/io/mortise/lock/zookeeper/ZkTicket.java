// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LateArming;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One contender: an ephemeral sequential node. The lowest in line holds the lock; each other one watches the two nodes right
 * before it, and its own. The steps of the protocol are here, what they found is in {@link PlaceInLine}.
 *
 * <p>The core does not overlap calls, but one that ran into its deadline may still be at work here: the next one joins it.
 * Events come on the session's event thread.
 */
final class ZkTicket implements Ticket, WatchTable.Listener, LateArming.Held {
    private static final Logger log = LoggerFactory.getLogger(ZkTicket.class);
    private static final Duration FALLBACK = Duration.ofSeconds(5);
    private static final int MOST_ROUNDS = 20;

    private final ZkBackend backend;
    private final LockRequest request;
    private final Waiter waiter;
    private final String lockNode;
    private final String prefix;
    private final PlaceInLine place = new PlaceInLine();
    private final TicketWatches watches = new TicketWatches(place, this);
    private volatile @Nullable ZkSession session;
    private @Nullable CompletableFuture<Attempt> running; // touched by attempt() and end() only
    private @Nullable CompletableFuture<Boolean> removing; // touched by end() only

    ZkTicket(ZkBackend backend, LockRequest request, Waiter waiter) {
        this.backend = backend;
        this.request = request;
        this.waiter = waiter;
        this.lockNode = backend.paths().lockNode(request.name());
        this.prefix = Contender.prefix(request.attemptId());
    }

    @Override
    public CompletionStage<Attempt> attempt() {
        ZkSession bound = session;
        if (bound == null) {
            bound = backend.session();
            session = bound;
        }
        ZkSession on = bound;
        if (running == null || running.isDone()) {
            running = on.ready()
                    .thenCompose(liveness -> ask(on, MOST_ROUNDS))
                    .handle((attempt, failure) -> failure == null ? attempt : failed(on, failure))
                    .toCompletableFuture();
        }
        return running.isDone() ? running : backend.timed(acquire(), running);
    }

    private Attempt failed(ZkSession on, Throwable failure) {
        if (ZkFailure.is(failure, Code.SESSIONEXPIRED)) {
            on.end("the session expired");
        }
        if (on.isOver() && on.liveness().isPresent()) {
            return sessionEnded(on);
        }
        if (on.isOver()) {
            session = null; // it never began, nothing was sent on it: the next attempt takes a new one
        }
        throw new CompletionException(ZkFailure.of(failure, acquire(), backend.endpoints()));
    }

    /** The core forgets a displaced ticket: a node that it may have left on a borrowed handle is the session's to clear away. */
    private Attempt sessionEnded(ZkSession on) {
        place.ending();
        watches.forgetAll(on);
        return new Attempt.Displaced("the session with " + backend.endpoints() + " ended");
    }

    /**
     * The session is over for us but may live on in a borrowed handle, and with it our node: deleted until the store has
     * answered, also when our client is closed and nobody repeats it for us.
     */
    void clearAway() {
        ZkSession on = session;
        if (on == null) {
            return;
        }
        place.ending();
        remove(on).whenComplete((wasThere, failure) -> {
            if (failure == null) {
                return;
            }
            boolean connectionLost = ZkFailure.cause(failure).getCause() instanceof KeeperException keeper
                    && keeper.code() == Code.CONNECTIONLOSS;
            if (connectionLost && !on.nodesAreGone()) {
                clearAway(); // not a loop: the handle answers when it has found a server again, or tried and failed
            } else {
                log.warn("event=node-left lock=\"{}\" cause=\"{}\"", request.name(), failure.toString());
            }
        });
    }

    private Attempt nodeGone(ZkSession on) {
        place.ending();
        on.leave(this);
        watches.forgetAll(on);
        return new Attempt.Displaced("the node of lock \"" + request.name() + "\" in line at " + backend.endpoints()
                + " was deleted, and not by its owner");
    }

    /** What is to be asked depends on how far an earlier attempt came. */
    private CompletionStage<Attempt> ask(ZkSession on, int rounds) {
        if (place.isRemoved()) {
            return done(nodeGone(on));
        }
        if (place.isPushed()) {
            return done(grant(on));
        }
        if (on.isOver()) {
            return done(sessionEnded(on));
        }
        if (rounds == 0) {
            throw new BackendUnavailableException(
                    acquire() + " at " + backend.endpoints() + ": the queue changes too fast");
        }
        if (place.node().isPresent()) {
            return on.calls()
                    .line(lockNode, !place.stands(on.connection()))
                    .thenCompose(children -> evaluate(on, children, rounds));
        }
        return place.mayExist() ? recover(on, rounds) : create(on, rounds);
    }

    /** One round trip: the node and the queue, pipelined. Two for a lock whose own node is missing. */
    private CompletionStage<Attempt> create(ZkSession on, int rounds) {
        if (!place.creating()) {
            throw new BackendUnavailableException(acquire() + ": withdrawn");
        }
        if (!on.enter(this)) {
            place.notCreated();
            on.leave(this);
            return done(sessionEnded(on));
        }
        backend.empty().used(lockNode);
        byte[] record = request.ownerRecord().getBytes(StandardCharsets.UTF_8);
        CompletableFuture<ZkCalls.Created> created =
                on.calls().create(lockNode + "/" + prefix, record, backend.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listed = on.calls().children(lockNode);
        return created.handle((made, failure) -> failure != null && ZkFailure.is(failure, Code.NONODE)
                        ? createWithLockNode(on, record, rounds)
                        : created(on, made, failure, listed, rounds))
                .thenCompose(next -> next);
    }

    private CompletionStage<Attempt> createWithLockNode(ZkSession on, byte[] record, int rounds) {
        return backend.createWithLockNode(on, lockNode, prefix, record)
                .handle((made, failure) -> {
                    if (failure != null && ZkFailure.is(failure, Code.NODEEXISTS)) {
                        place.notCreated(); // another one made the lock node meanwhile
                        return ask(on, rounds - 1);
                    }
                    return created(on, made, failure, on.calls().children(lockNode), rounds);
                })
                .thenCompose(next -> next);
    }

    private CompletionStage<Attempt> created(
            ZkSession on,
            ZkCalls.@Nullable Created made,
            @Nullable Throwable failure,
            CompletableFuture<List<String>> listed,
            int rounds) {
        if (made != null) {
            own(on, made.path(), made.czxid());
            return listed.thenCompose(children -> evaluate(on, children, rounds));
        }
        Throwable cause = Objects.requireNonNull(failure);
        if (!(ZkFailure.of(cause, "", "") instanceof BackendUnavailableException)) {
            place.notCreated(); // otherwise it may exist
        }
        return CompletableFuture.failedFuture(cause);
    }

    private void own(ZkSession on, String path, long createdAt) {
        place.created(path, createdAt);
        watches.listen(on, path);
    }

    /** The reply to a create was lost: the node is found by the attempt id in its name, or was never made. */
    private CompletionStage<Attempt> recover(ZkSession on, int rounds) {
        return on.calls().line(lockNode, true).thenCompose(children -> {
            Optional<String> mine = mine(children);
            if (mine.isEmpty()) {
                place.notCreated();
                return ask(on, rounds - 1);
            }
            return on.calls().data(mine.get()).thenCompose(content -> {
                own(on, mine.get(), content.stat().getCzxid());
                return ask(on, rounds - 1);
            });
        });
    }

    private Optional<String> mine(List<String> children) {
        return children.stream()
                .filter(child -> child.startsWith(prefix))
                .map(child -> lockNode + "/" + child)
                .findFirst();
    }

    private CompletionStage<Attempt> evaluate(ZkSession on, List<String> children, int rounds) {
        String name = place.ownNode().substring(lockNode.length() + 1);
        List<Contender> line = Contender.inLine(children, Optional.of(name));
        int at = 0;
        while (at < line.size() && !line.get(at).node().equals(name)) {
            at++;
        }
        if (at == line.size()) {
            return done(nodeGone(on));
        }
        if (at == 0) {
            return done(grant(on));
        }
        if (!request.mayWait()) {
            return done(new Attempt.Waiting(FALLBACK));
        }
        List<String> nearest = line.subList(Math.max(0, at - PlaceInLine.WATCHED), at).stream()
                .map(ahead -> lockNode + "/" + ahead.node())
                .toList();
        return watches.standBehind(on, nearest, at > nearest.size()).thenCompose(ownThere -> {
            if (!ownThere) {
                return done(nodeGone(on));
            }
            if (place.isPushed() || place.shouldLook()) {
                return ask(on, rounds - 1);
            }
            // A session that ended before we listened wakes nobody.
            return done(on.isOver() ? sessionEnded(on) : new Attempt.Waiting(FALLBACK));
        });
    }

    private Attempt grant(ZkSession on) {
        OptionalLong token = place.grant();
        if (token.isEmpty()) {
            return nodeGone(on);
        }
        watches.nobodyAhead(on);
        if (!place.ownStands(on.connection())) {
            backend.late().add(this); // the grant stands without it, only word of a deletion depends on it
        }
        return new Attempt.Granted(token.getAsLong(), on.liveness().orElseThrow());
    }

    /** If it is granted: not awaited. */
    @Override
    public void watchOwn() {
        ZkSession on = session;
        if (on != null && place.isGranted() && !place.ownStands(on.connection())) {
            String own = place.ownNode();
            watches.armOwn(on).whenComplete((ownIs, failure) -> {
                if (failure != null) {
                    ownNotWatched(on, failure);
                } else if (!ownIs) {
                    deleted(own, false);
                }
            });
        }
    }

    /** After a lost connection the next one is the sign to try again, and what is forbidden stays so. */
    private void ownNotWatched(ZkSession on, Throwable failure) {
        if (!ZkFailure.is(failure, Code.CONNECTIONLOSS) && !ZkFailure.is(failure, Code.NOAUTH) && !on.isOver()) {
            log.info("event=own-watch-failed lock=\"{}\" cause=\"{}\"", request.name(), failure.toString());
            backend.late().add(this);
        }
    }

    @Override
    public boolean gaveUp(String path) {
        return place.gaveUp(path);
    }

    @Override
    public void deleted(String path, boolean givenUp) {
        ZkSession on = session;
        if (on == null) {
            return;
        }
        switch (place.deleted(path, on.connection(), givenUp)) {
            case LOST -> waiter.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's node was deleted"));
            case LOOK -> waiter.wake();
            case NONE -> {}
        }
    }

    @Override
    public void changed(String path) {
        place.fired(path);
        lookAgain();
    }

    /** The client arms old watches again by itself, unless it was told not to; a holder looks for its node itself. */
    @Override
    public void reconnected() {
        lookAgain();
    }

    private void lookAgain() {
        watchOwn();
        waiter.wake(); // also where granted: the answer that said so may have been lost on its way to the core
    }

    @Override
    public void sessionOver() {
        waiter.wake();
    }

    @Override
    public CompletionStage<Boolean> end() {
        backend.late().remove(this);
        ZkSession on = session;
        boolean mayBeLeft = place.ending();
        if (on == null || !mayBeLeft || on.nodesAreGone()) {
            if (on != null) {
                watches.forgetAll(on);
                on.leave(this);
            }
            return CompletableFuture.completedFuture(false);
        }
        // An attempt that ran into its deadline is still on its way: what it may have made is known after it. So may a
        // removal be, and one of them is enough.
        if (removing == null || removing.isDone()) {
            CompletionStage<Boolean> removed = running == null || running.isDone()
                    ? remove(on)
                    : running.handle((attempt, failure) -> true).thenCompose(ok -> remove(on));
            removing = removed.toCompletableFuture();
        }
        return backend.timed("release of lock \"" + request.name() + "\"", removing);
    }

    private CompletionStage<Boolean> remove(ZkSession on) {
        watches.forgetAhead(on);
        Optional<String> own = place.node();
        if (on.nodesAreGone() || (own.isEmpty() && !place.mayExist())) {
            watches.forgetAll(on);
            on.leave(this);
            return CompletableFuture.completedFuture(false);
        }
        CompletionStage<Boolean> deleted = own.isPresent()
                ? on.calls().delete(own.get())
                : on.calls()
                        .line(lockNode, true)
                        .thenCompose(children -> mine(children)
                                .map(found -> on.calls().delete(found))
                                .orElseGet(() -> CompletableFuture.completedFuture(false)));
        return deleted.handle((wasThere, failure) -> {
            if (failure == null) {
                watches.forgetAll(on);
                place.notCreated();
                on.leave(this);
                backend.empty().left(on, lockNode);
                return wasThere;
            }
            if (ZkFailure.is(failure, Code.SESSIONEXPIRED)) {
                on.end("the session expired");
                watches.forgetAll(on);
                return false;
            }
            throw new CompletionException(
                    ZkFailure.of(failure, "release of lock \"" + request.name() + "\"", backend.endpoints()));
        });
    }

    @Override
    public void abandon() {
        ZkSession on = session;
        if (on != null) {
            on.end("a node of it could not be deleted for a whole session timeout");
        }
    }

    private String acquire() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    private static CompletionStage<Attempt> done(Attempt attempt) {
        return CompletableFuture.completedFuture(attempt);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        ZkSession on = session;
        return type == ZooKeeperGuard.class && on != null
                ? Optional.of(type.cast(new ZkGuard(on.calls().handle(), place.ownNode())))
                : Optional.empty();
    }
}
