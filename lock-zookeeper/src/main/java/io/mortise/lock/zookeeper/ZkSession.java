// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.CurrentSession;
import io.mortise.lock.spi.ReadyLine;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One ZooKeeper session, from its first connection to its end; it never revives. The one watcher of all that Mortise watches
 * on it, so that state changes and node events are seen in the order in which the server sent them. That a connection is
 * lost may be told by an event of either kind.
 */
final class ZkSession implements Watcher, CurrentSession.Session {
    private static final Logger log = LoggerFactory.getLogger(ZkSession.class);

    private static final AtomicLong SESSIONS = new AtomicLong();
    private static final Duration PROOF_RETRY = Duration.ofMillis(500);
    private static final Duration WATCH_RETRY = Duration.ofMillis(500);
    private static final Duration REPORT_SLACK = Duration.ofMillis(5);

    private final BackendContext context;
    private final String endpoints;
    private final String base;
    private final boolean owned;
    private final Optional<ZooKeeperOptions> options; // of a handle of our own
    private final WatchTable watches = new WatchTable();
    private final ReadyLine<ZkLiveness> ready = new ReadyLine<>();
    private final Set<ZkTicket> inLine = ConcurrentHashMap.newKeySet();
    private final long number = SESSIONS.incrementAndGet();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final CompletableFuture<ZkCalls> calls = new CompletableFuture<>();
    private final AtomicBoolean followUp = new AtomicBoolean(); // one more proof is due out of its turn
    private volatile long connection;
    private volatile boolean over;
    private volatile @Nullable BackendRefusedException refusal;

    private ZkSession(BackendContext context, String endpoints, ZooKeeperOptions options) {
        this.context = context;
        this.endpoints = endpoints;
        this.base = options.basePath();
        this.owned = options.supplier().isEmpty();
        this.options = owned ? Optional.of(options) : Optional.empty();
    }

    /** Begins to connect; {@link #ready} tells how it went. */
    static ZkSession start(ZooKeeperOptions options, String endpoints, BackendContext context) {
        ZkSession session = new ZkSession(context, endpoints, options);
        try {
            if (session.owned) {
                session.calls.complete(
                        new ZkCalls(ZkHandle.open(options, context.requestTimeout(), session), context.clock()));
            } else {
                session.borrow(options.supplier().get().get());
            }
        } catch (RuntimeException | Error e) {
            session.calls.completeExceptionally(e);
            throw e;
        }
        return session;
    }

    private void borrow(ZooKeeper handle) {
        calls.complete(new ZkCalls(handle, context.clock()));
        if (!handle.getState().isAlive()) {
            over = true;
            ready.fail(unavailable("the application's ZooKeeper handle is " + handle.getState()
                    + ", its supplier must give a new one"));
            closed.complete(null);
            return;
        }
        watchStates();
    }

    /** The default watcher of a borrowed handle is not ours: a watch on a node that never exists hears of its states. */
    private void watchStates() {
        if (over) {
            return;
        }
        calls().handle()
                .addWatch(
                        nowhere(),
                        this,
                        AddWatchMode.PERSISTENT,
                        (rc, path, ignored) -> {
                            if (rc == Code.OK.intValue()) {
                                connected();
                            } else if (!calls().handle().getState().isAlive()) {
                                end("the application's ZooKeeper handle is "
                                        + calls().handle().getState());
                            } else {
                                log.info("event=session-watch-failed rc={}", Code.get(rc));
                                context.clock().schedule(WATCH_RETRY, this::watchStates);
                            }
                        },
                        null);
    }

    private String nowhere() {
        return (base.equals("/") ? "" : base) + "/.mortise-session-" + context.clientId() + "-" + number;
    }

    /** The handle's event thread can be faster than its constructor: it waits here. */
    ZkCalls calls() {
        return calls.join();
    }

    WatchTable watches() {
        return watches;
    }

    boolean owned() {
        return owned;
    }

    /** Which connection this is: a number that grows with each disconnect and reconnect, in the order of the events. */
    long connection() {
        return connection;
    }

    /** Over for leases and waiters. On a borrowed handle nodes can still be deleted. */
    @Override
    public boolean isOver() {
        return over;
    }

    /** Whether our nodes are gone, or going by themselves. */
    boolean nodesAreGone() {
        return over && (owned || !calls().handle().getState().isAlive());
    }

    /** Completes with the first proof that the session lives; fails with what the waiters are to be told. */
    CompletionStage<ZkLiveness> ready() {
        BackendRefusedException refused = refusal;
        return refused == null ? ready.join() : CompletableFuture.failedFuture(refused);
    }

    Optional<ZkLiveness> liveness() {
        return ready.now();
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == Event.EventType.None) {
            stateChanged(event.getState());
        } else {
            if (event.getState() == Event.KeeperState.Disconnected) {
                disconnected(); // of a watch whose removal the connection took along: the client then keeps the state's
                // own event
            }
            watches.dispatch(event);
        }
    }

    private void stateChanged(Event.KeeperState state) {
        if (!over) { // else it is known already that it ends
            log.info("event=session-state state={} session=0x{} endpoints={}", state, sessionId(), endpoints);
        }
        switch (state) {
            case SyncConnected -> connected();
            case Disconnected -> disconnected();
            case Expired -> end("the session expired");
            case Closed -> end("the ZooKeeper handle was closed");
            case AuthFailed -> {
                refusal = new BackendRefusedException(endpoints
                        + " refused the client's credentials: authentication failed. Check the user and the password");
                ready.fail(refusal);
                end("authentication failed");
            }
            default -> log.debug("event=session-state-ignored state={}", state);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever changed on the handle's event thread
    private void connected() {
        connection++;
        liveness().ifPresent(ZkLiveness::checkDeadline); // a reconnect past the deadline revives nothing
        if (over) {
            return;
        }
        if (liveness().isEmpty()) {
            prove();
        } else if (timeout().compareTo(liveness().get().timeout()) < 0) {
            end("the server shortened the session timeout to "
                    + timeout()); // what was proved was proved for the longer one
        } else {
            watches.reconnected();
        }
    }

    /** As negotiated with the server of the present connection: another one may have other bounds. */
    private Duration timeout() {
        return Duration.ofMillis(calls().handle().getSessionTimeout());
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever changed on the handle's event thread
    private void disconnected() {
        connection++;
    }

    /** The first sync: what the first deadline counts from. Nobody has a node yet, see {@link #proof}. */
    private void prove() {
        if (over || liveness().isPresent()) {
            return;
        }
        long sent = context.clock().nanoTime();
        calls().sync(base).whenComplete((answered, failure) -> {
            if (failure == null) {
                ZkLiveness liveness = new ZkLiveness(this, context.clock(), timeout(), sent);
                log.info(
                        "event=session-ready session=0x{} timeout_ms={}",
                        sessionId(),
                        timeout().toMillis());
                if (ready.complete(liveness)) {
                    context.keep(liveness);
                    renewSooner(liveness);
                }
            } else {
                log.info("event=session-sync-failed cause=\"{}\"", failure.toString());
                context.clock().schedule(PROOF_RETRY, this::prove); // it may have failed without a disconnect
            }
        });
    }

    /**
     * While anybody has a node here: a write, since a leader that was cut off answers a {@code sync} but commits nothing.
     * While nobody has, a {@code sync} will do, which costs the servers no disk: no grant counts on it, for the node of the
     * next one is made by a write that is sent later, and proves more.
     */
    private CompletableFuture<Boolean> proof() {
        return inLine.isEmpty() ? calls().sync(base) : calls().commit(base);
    }

    /** Renews: one request, whatever the number of grants. */
    void renew(ZkLiveness liveness) {
        if (over) {
            return;
        }
        long sent = context.clock().nanoTime();
        CompletableFuture<Boolean> proof = proof(); // chosen after the look at the clock: a later node is made later
        long on = connection;
        options.ifPresent(ours -> Silence.await(
                context.clock(),
                liveness.patience(),
                calls()::answeredAt,
                proof,
                () -> context.blocking().execute(() -> leaveServer(proof, on, ours))));
        proof.whenComplete((answered, failure) -> {
            if (failure == null) {
                liveness.answered(sent, context.clock().nanoTime());
                renewSooner(liveness);
            } else if (ZkFailure.is(failure, Code.SESSIONEXPIRED)) {
                end("the session expired");
            } else {
                liveness.unknown(failure);
            }
        });
    }

    /** A handle of the application's is left alone. */
    private void leaveServer(CompletableFuture<Boolean> proof, long on, ZooKeeperOptions ours) {
        if (!proof.isDone() && connection == on && !over) {
            log.info("event=server-silent session=0x{} hint=\"looking for another\"", sessionId());
            ZkHandle.leaveServer(calls().handle(), ours);
            calls().sync(base); // wakes the client's thread, which would else find out when it next has to send
        }
    }

    /** If the latest one proved little, and none is to follow soon already. */
    private void renewSooner(ZkLiveness liveness) {
        Optional<Duration> pause = liveness.sooner();
        if (pause.isPresent() && followUp.compareAndSet(false, true)) {
            context.clock().schedule(pause.get().plus(REPORT_SLACK), () -> {
                followUp.set(false);
                renew(liveness);
            });
        }
    }

    /** The server, the application or an answer said that the session is no more. */
    void end(String why) {
        over(new LossReason(LossReason.Kind.SESSION_ENDED, why));
    }

    /** From whichever side it comes: all leases are told, then waiters look for a new session, and the handle is closed. */
    @Override
    public void over(LossReason reason) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
        }
        if (liveness().isPresent()) {
            log.info("event=session-over session=0x{} reason=\"{}\"", sessionId(), reason);
        }
        liveness().ifPresent(liveness -> liveness.lost(reason));
        ready.fail(unavailable(reason.detail()));
        watches.sessionOver();
        if (owned) {
            inLine.clear(); // their nodes go with the handle
            context.blocking().execute(this::closeHandle);
            return;
        }
        inLine.forEach(ZkTicket::clearAway);
        if (calls().handle().getState().isAlive()) {
            // Not removeWatches: that asks the server whether there is a watch, and leaves it there.
            calls().handle().removeAllWatches(nowhere(), WatcherType.Any, false, (rc, path, ignored) -> {}, null);
        }
        closed.complete(null);
    }

    /** A ticket is about to make a node, which on a borrowed handle can outlive this session. False: too late. */
    boolean enter(ZkTicket ticket) {
        inLine.add(ticket);
        return !over;
    }

    /** It certainly has no node any more. */
    void leave(ZkTicket ticket) {
        inLine.remove(ticket);
    }

    LockException unavailable(String why) {
        return new BackendUnavailableException("no session with " + endpoints + ": " + why);
    }

    /** Blocks until the server has dropped the session and its nodes, or cannot be told. */
    private void closeHandle() {
        try {
            ZkHandle.close(calls().handle());
        } finally {
            closed.complete(null);
        }
    }

    /** Completes when a handle of our own is closed; at once for a borrowed one, which stays open. */
    @Override
    public CompletableFuture<Void> closed() {
        return closed;
    }

    private String sessionId() {
        return Long.toHexString(calls().handle().getSessionId());
    }
}
