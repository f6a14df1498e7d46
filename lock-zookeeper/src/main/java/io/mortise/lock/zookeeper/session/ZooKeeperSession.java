// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.session.SessionWaitQueue;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One ZooKeeper session, from its first connection to its end; it never revives.
 *
 * <p>It is the only watcher of all that Mortise watches on its handle, so it sees state changes and node events in the order in
 * which the server sent them. An event of either kind may report that a connection was lost.
 */
public final class ZooKeeperSession implements Watcher, CurrentSession.Session {
    /** A contender with a node, or possibly one, that belongs to this session. */
    public interface NodeOwner {
        /** Deletes the node of a session that has ended for Mortise but lives on in a borrowed handle. Does not wait. */
        void deleteOrphan();
    }

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperSession.class);

    private static final AtomicLong SESSIONS = new AtomicLong();
    private static final Duration WATCH_RETRY = Duration.ofMillis(500);

    private final BackendContext context;
    private final String endpoints;
    private final String base;
    private final boolean managed;
    private final NodeWatchRegistry watches = new NodeWatchRegistry();
    private final SessionWaitQueue<ZooKeeperSessionValidity> ready = new SessionWaitQueue<>();
    private final Set<NodeOwner> contenders = ConcurrentHashMap.newKeySet();
    private final long number = SESSIONS.incrementAndGet();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final CompletableFuture<AsyncZooKeeper> calls = new CompletableFuture<>();
    private final SessionHeartbeat heartbeat;
    private volatile long connection;
    private volatile boolean ended;
    private volatile @Nullable BackendRefusedException refusal;

    private ZooKeeperSession(ZooKeeperSettings settings, BackendContext context) {
        this.context = context;
        this.endpoints = settings.toString();
        this.base = settings.basePath();
        this.managed = settings.managesHandle();
        this.heartbeat = new SessionHeartbeat(this, settings, context);
    }

    /** Starts to connect; {@link #ready} reports the outcome. */
    public static ZooKeeperSession start(ZooKeeperSettings settings, BackendContext context) {
        ZooKeeperSession session = new ZooKeeperSession(settings, context);
        try {
            Optional<Supplier<ZooKeeper>> borrowed = settings.handleSupplier();
            if (borrowed.isPresent()) {
                session.borrow(borrowed.get().get());
            } else {
                ZooKeeper handle = ZooKeeperHandles.open(settings, context.requestTimeout(), session);
                session.calls.complete(new AsyncZooKeeper(handle, context.clock()));
            }
        } catch (RuntimeException | Error e) {
            session.calls.completeExceptionally(e);
            throw e;
        }
        return session;
    }

    private void borrow(ZooKeeper handle) {
        calls.complete(new AsyncZooKeeper(handle, context.clock()));
        if (!handle.getState().isAlive()) {
            ended = true;
            ready.fail(unavailable("the application's ZooKeeper handle is " + handle.getState()
                    + ", its supplier must return a new one"));
            closed.complete(null);
            return;
        }
        watchStates();
    }

    /** Watches a node that never exists, to be notified of the states of a borrowed handle: its default watcher is not ours. */
    private void watchStates() {
        if (ended) {
            return;
        }
        calls().handle()
                .addWatch(
                        stateWatchPath(),
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

    private String stateWatchPath() {
        return (base.equals("/") ? "" : base) + "/.mortise-session-" + context.clientId() + "-" + number;
    }

    /** Returns the session's requests. The event thread can be faster than the handle's constructor: it waits here. */
    public AsyncZooKeeper calls() {
        return calls.join();
    }

    /** Returns the listeners for the events of nodes. */
    public NodeWatchRegistry watches() {
        return watches;
    }

    /** Returns whether Mortise opened the handle, and not the application. */
    public boolean isManaged() {
        return managed;
    }

    /** Returns the number of the connection. It grows with each disconnect and reconnect, in the order of the events. */
    public long connection() {
        return connection;
    }

    /** Returns whether it has ended for leases and waiters. On a borrowed handle nodes can still be deleted. */
    @Override
    public boolean hasEnded() {
        return ended;
    }

    /** Returns whether the server has deleted the session's nodes, or will do so without a request. */
    public boolean serverDeletesNodes() {
        return ended && (managed || !calls().handle().getState().isAlive());
    }

    /** Completes once an answer has proved that the session is alive; fails with the exception for waiters. */
    public CompletionStage<ZooKeeperSessionValidity> ready() {
        BackendRefusedException refused = refusal;
        return refused == null ? ready.join() : CompletableFuture.failedFuture(refused);
    }

    /** Returns the session's validity once it is ready. */
    public Optional<ZooKeeperSessionValidity> validity() {
        return ready.now();
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == Event.EventType.None) {
            stateChanged(event.getState());
        } else {
            if (event.getState() == Event.KeeperState.Disconnected) {
                disconnected(); // a watch whose removal was lost with the connection: the state has no event of its own
                // then
            }
            watches.dispatch(event);
        }
    }

    private void stateChanged(Event.KeeperState state) {
        if (!ended) {
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
        validity().ifPresent(ZooKeeperSessionValidity::checkDeadline); // a reconnect past the deadline revives nothing
        if (ended) {
            return;
        }
        if (validity().isEmpty()) {
            heartbeat.start();
        } else if (negotiatedTimeout().compareTo(validity().get().sessionTimeout()) < 0) {
            // the deadline was calculated from the longer timeout
            end("the server shortened the session timeout to " + negotiatedTimeout());
        } else {
            watches.reconnected();
        }
    }

    /** Returns the timeout that the present server granted: another server may have other bounds. */
    Duration negotiatedTimeout() {
        return Duration.ofMillis(calls().handle().getSessionTimeout());
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever changed on the handle's event thread
    private void disconnected() {
        connection++;
    }

    /** Makes the session ready. Returns false if it has ended already. */
    boolean opened(ZooKeeperSessionValidity validity) {
        log.info(
                "event=session-ready session=0x{} timeout_ms={}",
                sessionId(),
                validity.sessionTimeout().toMillis());
        return ready.complete(validity);
    }

    /** Proves by one request that the session is alive, whatever the number of grants. */
    void renew(ZooKeeperSessionValidity validity) {
        heartbeat.renew(validity);
    }

    /** Ends the session because the server, the application or an answer said so. */
    public void end(String why) {
        over(new LossReason(LossReason.Kind.SESSION_ENDED, why));
    }

    /** Ends the session. All leases are lost first, then waiters are woken to take a new session, then the handle is closed. */
    @Override
    public void over(LossReason reason) {
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
        }
        if (validity().isPresent()) {
            log.info("event=session-ended session=0x{} reason=\"{}\"", sessionId(), reason);
        }
        validity().ifPresent(validity -> validity.lost(reason));
        ready.fail(unavailable(reason.detail()));
        watches.sessionEnded();
        if (managed) {
            contenders.clear(); // closing the handle deletes their nodes
            context.blocking().execute(this::closeHandle);
            return;
        }
        contenders.forEach(NodeOwner::deleteOrphan);
        if (calls().handle().getState().isAlive()) {
            // Not removeWatches: that asks the server whether there is a watch, and leaves it there.
            calls().handle()
                    .removeAllWatches(stateWatchPath(), WatcherType.Any, false, (rc, path, ignored) -> {}, null);
        }
        closed.complete(null);
    }

    /**
     * Registers a contender that is about to create a node. On a borrowed handle that node can outlive this session.
     *
     * @return false if the session has ended: the contender must not create a node
     */
    public boolean register(NodeOwner contender) {
        contenders.add(contender);
        return !ended;
    }

    /** Removes a contender that certainly has no node any more. */
    public void deregister(NodeOwner contender) {
        contenders.remove(contender);
    }

    /** Returns whether any contender has, or may have, a node on this session. */
    boolean hasContenders() {
        return !contenders.isEmpty();
    }

    private LockException unavailable(String why) {
        return new BackendUnavailableException("no session with " + endpoints + ": " + why);
    }

    /** Blocks until the server has dropped the session and its nodes, or the request timeout has passed. */
    private void closeHandle() {
        try {
            ZooKeeperHandles.close(calls().handle());
        } finally {
            closed.complete(null);
        }
    }

    /** Completes when a managed handle is closed; at once for a borrowed one, which stays open. */
    @Override
    public CompletableFuture<Void> closed() {
        return closed;
    }

    String sessionId() {
        return Long.toHexString(calls().handle().getSessionId());
    }
}
