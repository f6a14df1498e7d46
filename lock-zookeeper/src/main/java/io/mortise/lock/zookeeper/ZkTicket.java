// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One contender: an ephemeral sequential node. The lowest in line holds the lock; each other one watches the node right
 * before it, and its own.
 *
 * <p>The core does not overlap calls, but one that ran into its deadline may still be at work here: the next one joins it.
 * Events come on the session's event thread.
 */
final class ZkTicket implements Ticket, WatchTable.Listener {
    private static final Duration FALLBACK = Duration.ofSeconds(5);
    private static final int MOST_ROUNDS = 20;
    private static final long NEVER = -1;

    private final ZkBackend backend;
    private final LockRequest request;
    private final Waiter waiter;
    private final String lockNode;
    private final String prefix;
    private volatile @Nullable ZkSession session;
    private @Nullable CompletableFuture<Attempt> running; // touched by attempt() and end() only

    /** A create was sent and not answered by success or a clear no: the node may exist. */
    @GuardedBy("this")
    private boolean mayExist;

    @GuardedBy("this")
    private @Nullable String node;

    @GuardedBy("this")
    private long czxid;

    /** On which connection the watch on our own node was armed. */
    @GuardedBy("this")
    private long ownArmed = NEVER;

    @GuardedBy("this")
    private @Nullable String ahead;

    @GuardedBy("this")
    private long aheadArmed = NEVER;

    /** The node ahead was the only one: when it goes, the lock is ours. */
    @GuardedBy("this")
    private boolean nextInLine;

    @GuardedBy("this")
    private boolean pushed;

    @GuardedBy("this")
    private boolean granted;

    /** Our node is gone, and not by our doing. */
    @GuardedBy("this")
    private boolean removed;

    @GuardedBy("this")
    private boolean ending;

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
        return running.isDone() ? running : backend.timed("acquire of lock \"" + request.name() + "\"", running);
    }

    private Attempt failed(ZkSession on, Throwable failure) {
        if (ZkFailure.is(failure, Code.SESSIONEXPIRED)) {
            on.end("the session expired");
        }
        if (on.isOver() && on.liveness().isPresent()) {
            return displaced("the session ended");
        }
        if (on.isOver()) {
            session = null; // it never began, nothing was sent on it: the next attempt takes a new one
        }
        throw new CompletionException(
                ZkFailure.of(failure, "acquire of lock \"" + request.name() + "\"", backend.endpoints()));
    }

    private Attempt displaced(String why) {
        forgetAhead();
        forgetOwn();
        return new Attempt.Displaced(why);
    }

    /** What is to be asked depends on how far an earlier attempt came. */
    private CompletionStage<Attempt> ask(ZkSession on, int rounds) {
        String known;
        boolean unsure;
        synchronized (this) {
            if (removed) {
                return done(displaced("the node was deleted"));
            }
            if (pushed) {
                return done(grant(on));
            }
            known = node;
            unsure = mayExist;
        }
        if (on.isOver()) {
            return done(displaced("the session ended"));
        }
        if (rounds == 0) {
            throw new BackendUnavailableException("acquire of lock \"" + request.name() + "\" at " + backend.endpoints()
                    + ": the queue changes too fast");
        }
        if (known != null) {
            return list(on, needsSync(on)).thenCompose(children -> evaluate(on, children, rounds));
        }
        return unsure ? recover(on, rounds) : create(on, rounds);
    }

    /** One round trip: the node and the queue, pipelined. */
    private CompletionStage<Attempt> create(ZkSession on, int rounds) {
        synchronized (this) {
            mayExist = true;
        }
        byte[] record = request.ownerRecord().getBytes(StandardCharsets.UTF_8);
        CompletableFuture<ZkCalls.Created> created =
                on.calls().create(lockNode + "/" + prefix, record, backend.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listed = on.calls().children(lockNode);
        return created.handle((made, failure) -> {
                    if (failure == null) {
                        return own(on, made.path(), made.czxid())
                                ? listed.thenCompose(children -> evaluate(on, children, rounds))
                                : done(displaced("the node was deleted"));
                    }
                    if (ZkFailure.is(failure, Code.NONODE)) {
                        synchronized (this) {
                            mayExist = false;
                        }
                        return backend.makeLockNode(on, lockNode).thenCompose(ok -> ask(on, rounds - 1));
                    }
                    if (ZkFailure.of(failure, "", "") instanceof BackendUnavailableException) {
                        return CompletableFuture.<Attempt>failedFuture(failure); // may exist
                    }
                    synchronized (this) {
                        mayExist = false;
                    }
                    return CompletableFuture.<Attempt>failedFuture(failure);
                })
                .thenCompose(next -> next);
    }

    private synchronized boolean own(ZkSession on, String path, long createdAt) {
        node = path;
        czxid = createdAt;
        mayExist = false;
        on.watches().add(path, this);
        return !removed;
    }

    /** The reply to a create was lost: the node is found by the attempt id in its name, or was never made. */
    private CompletionStage<Attempt> recover(ZkSession on, int rounds) {
        return list(on, true).thenCompose(children -> {
            Optional<String> mine = mine(children);
            if (mine.isEmpty()) {
                synchronized (this) {
                    mayExist = false;
                }
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

    /** A sync before the list makes sure that a server which was joined meanwhile has seen all that the last one had. */
    private CompletionStage<List<String>> list(ZkSession on, boolean syncFirst) {
        CompletionStage<Boolean> synced =
                syncFirst ? on.calls().sync(lockNode) : CompletableFuture.completedFuture(true);
        CompletionStage<List<String>> listed = on.calls()
                .children(lockNode)
                .exceptionallyCompose(failure -> ZkFailure.is(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(List.of())
                        : CompletableFuture.failedFuture(failure));
        return synced.thenCombine(listed, (ok, children) -> children);
    }

    private synchronized boolean needsSync(ZkSession on) {
        return ownArmed != on.connection() || (ahead != null && aheadArmed != on.connection());
    }

    private CompletionStage<Attempt> evaluate(ZkSession on, List<String> children, int rounds) {
        String own = ownNode();
        String name = own.substring(lockNode.length() + 1);
        List<Contender> line = Contender.inLine(children, Optional.of(name));
        int place = 0;
        while (place < line.size() && !line.get(place).node().equals(name)) {
            place++;
        }
        if (place == line.size()) {
            return done(displaced("the node was deleted"));
        }
        if (place == 0) {
            return done(grant(on));
        }
        if (!request.mayWait()) {
            return done(new Attempt.Waiting(FALLBACK));
        }
        return watch(on, lockNode + "/" + line.get(place - 1).node(), place == 1, rounds);
    }

    private CompletionStage<Attempt> watch(ZkSession on, String before, boolean onlyOne, int rounds) {
        forgetAheadUnless(before);
        boolean armOwn;
        String own = ownNode();
        synchronized (this) {
            ahead = before;
            aheadArmed = NEVER;
            nextInLine = onlyOne;
            armOwn = ownArmed != on.connection();
        }
        on.watches().add(before, this);
        CompletableFuture<Boolean> aheadThere = there(on, before, () -> aheadArmed(on, before));
        CompletableFuture<Boolean> ownThere =
                armOwn ? there(on, own, () -> ownArmed(on)) : CompletableFuture.completedFuture(true);
        return aheadThere
                .thenCombine(ownThere, (aheadIs, ownIs) -> {
                    if (!ownIs) {
                        return done(displaced("the node was deleted"));
                    }
                    if (!aheadIs) {
                        forgetAhead(); // gone between the list and the watch: look again
                        return ask(on, rounds - 1);
                    }
                    return done(new Attempt.Waiting(FALLBACK));
                })
                .thenCompose(next -> next);
    }

    private static CompletableFuture<Boolean> there(ZkSession on, String path, Runnable armed) {
        return on.calls()
                .data(path, on, armed)
                .thenApply(content -> true)
                .exceptionallyCompose(failure -> ZkFailure.is(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(false)
                        : CompletableFuture.failedFuture(failure));
    }

    private synchronized void ownArmed(ZkSession on) {
        ownArmed = on.connection();
    }

    private synchronized void aheadArmed(ZkSession on, String path) {
        if (path.equals(ahead)) {
            aheadArmed = on.connection();
        }
    }

    private Attempt grant(ZkSession on) {
        boolean arm;
        long token;
        synchronized (this) {
            granted = true;
            pushed = false;
            arm = ownArmed != on.connection();
            token = czxid;
        }
        if (arm) {
            armOwn(on); // not awaited: the grant stands without it, only word of a deletion depends on it
        }
        return new Attempt.Granted(token, on.liveness().orElseThrow());
    }

    private void armOwn(ZkSession on) {
        String own = ownNode();
        there(on, own, () -> ownArmed(on)).thenAccept(ownIs -> {
            if (!ownIs) {
                deleted(own);
            }
        });
    }

    @Override
    public void deleted(String path) {
        boolean lost;
        ZkSession on = session;
        synchronized (this) {
            if (on == null || ending) {
                return;
            }
            if (path.equals(node)) {
                if (removed) {
                    return;
                }
                removed = true;
                lost = granted;
            } else if (path.equals(ahead)) {
                // The grant itself, if nothing can have been missed: both watches stood on this connection, and we are
                // there.
                long now = on.connection();
                pushed = nextInLine && aheadArmed == now && ownArmed == now && !removed;
                ahead = null;
                aheadArmed = NEVER;
                lost = false;
            } else {
                return;
            }
        }
        if (lost) {
            waiter.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's node was deleted"));
        } else {
            waiter.wake();
        }
    }

    @Override
    public void changed(String path) {
        boolean holding;
        synchronized (this) {
            if (path.equals(node)) {
                ownArmed = NEVER;
            } else if (path.equals(ahead)) {
                aheadArmed = NEVER;
            }
            holding = granted;
        }
        watchAgain(holding);
    }

    /** The client arms old watches again by itself, unless it was told not to; a holder looks for its node itself. */
    @Override
    public void reconnected() {
        boolean holding;
        synchronized (this) {
            holding = granted;
        }
        if (holding) {
            watchAgain(true);
        }
    }

    private void watchAgain(boolean holding) {
        ZkSession on = session;
        if (on == null) {
            return;
        }
        if (holding) {
            armOwn(on);
        } else {
            waiter.wake();
        }
    }

    @Override
    public void sessionOver() {
        waiter.wake();
    }

    @Override
    public CompletionStage<Boolean> end() {
        ZkSession on = session;
        synchronized (this) {
            ending = true;
        }
        if (on == null) {
            return CompletableFuture.completedFuture(false);
        }
        if (running == null || running.isDone()) {
            return backend.timed("release of lock \"" + request.name() + "\"", remove(on));
        }
        // An attempt that ran into its deadline is still on its way: what it may have made is known after it.
        CompletionStage<Boolean> after =
                running.handle((attempt, failure) -> true).thenCompose(ok -> remove(on));
        return backend.timed("release of lock \"" + request.name() + "\"", after);
    }

    private CompletionStage<Boolean> remove(ZkSession on) {
        forgetAhead();
        String own;
        boolean unsure;
        synchronized (this) {
            own = node;
            unsure = mayExist;
        }
        if (on.nodesAreGone() || (own == null && !unsure)) {
            forgetOwn();
            return CompletableFuture.completedFuture(false);
        }
        CompletionStage<Boolean> deleted = own != null
                ? on.calls().delete(own)
                : list(on, true)
                        .thenCompose(children -> mine(children)
                                .map(found -> on.calls().delete(found))
                                .orElseGet(() -> CompletableFuture.completedFuture(false)));
        return deleted.handle((wasThere, failure) -> {
            if (failure == null) {
                forgetOwn();
                synchronized (this) {
                    mayExist = false;
                }
                return wasThere;
            }
            if (ZkFailure.is(failure, Code.SESSIONEXPIRED)) {
                on.end("the session expired");
                forgetOwn();
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

    private void forgetAhead() {
        forgetAheadUnless(null);
    }

    /** Drops the watch on the node ahead, on the server too, unless it fired or another waiter needs it. */
    private void forgetAheadUnless(@Nullable String stays) {
        ZkSession on = session;
        String before;
        synchronized (this) {
            before = ahead;
            if (before == null || before.equals(stays)) {
                return;
            }
            ahead = null;
            aheadArmed = NEVER;
        }
        if (on != null && on.watches().remove(before, this) && !on.isOver()) {
            on.calls().removeWatch(before, on, on.owned());
        }
    }

    private void forgetOwn() {
        ZkSession on = session;
        String own;
        synchronized (this) {
            own = node;
        }
        if (on != null && own != null) {
            on.watches().remove(own, this);
        }
    }

    private synchronized String ownNode() {
        if (node == null) {
            throw new IllegalStateException("no node yet");
        }
        return node;
    }

    private static CompletionStage<Attempt> done(Attempt attempt) {
        return CompletableFuture.completedFuture(attempt);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        ZkSession on = session;
        return type == ZooKeeperGuard.class && on != null
                ? Optional.of(type.cast(new Guard(on.calls().handle(), ownNode())))
                : Optional.empty();
    }

    private record Guard(ZooKeeper zooKeeper, String node) implements ZooKeeperGuard {
        @Override
        public Op check() {
            return Op.check(node, -1);
        }
    }
}
