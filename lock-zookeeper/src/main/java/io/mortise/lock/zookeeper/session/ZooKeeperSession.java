// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.session.OpenSessionWaiters;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
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
 * A ZooKeeper session, from its first connection until it ends.
 *
 * <p>An ended session is never reused. The session is the only watcher that its client registers on the handle, so it receives
 * state changes and node events in the order in which the server sent them. An event of either kind may report a lost
 * connection.
 */
public final class ZooKeeperSession implements Watcher, CurrentSession.Session {
    /** A contender that has, or may have, a node on this session. */
    public interface NodeOwner {
        /** Handles a reconnect of the session. Called on the event thread. */
        void reconnected();

        /**
         * Handles the end of a session for leases and waiters.
         *
         * @param session the session that has ended
         * @param serverDeletesNodes whether the server deletes the session's nodes; if not, their owners must delete them,
         *     because the application's handle keeps the session alive on the server
         */
        void sessionEnded(ZooKeeperSession session, boolean serverDeletesNodes);
    }

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperSession.class);

    private static final AtomicLong SESSIONS = new AtomicLong();
    private static final Duration WATCH_RETRY = Duration.ofMillis(500);
    private static final Duration CLOSE_RETRY = Duration.ofMillis(500);

    private final BackendContext context;
    private final String endpoints;
    private final String base;
    private final boolean managed;
    private final NodeWatchRegistry watches = new NodeWatchRegistry();
    private final OpenSessionWaiters<ZooKeeperSessionValidity> ready = new OpenSessionWaiters<>();
    private final Set<NodeOwner> contenders = ConcurrentHashMap.newKeySet();
    private final long number = SESSIONS.incrementAndGet();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final CompletableFuture<AsyncZooKeeper> zooKeeper = new CompletableFuture<>();
    private final SessionHeartbeat heartbeat;
    private volatile long connection;
    private volatile boolean ended;
    private volatile @Nullable LockException refusal;

    private ZooKeeperSession(ZooKeeperSettings settings, BackendContext context) {
        this.context = context;
        this.endpoints = settings.toString();
        this.base = settings.basePath();
        this.managed = settings.managesHandle();
        this.heartbeat = new SessionHeartbeat(this, settings, context);
    }

    /** Starts to connect a new session. {@link #ready} reports the outcome. */
    public static ZooKeeperSession start(ZooKeeperSettings settings, BackendContext context) {
        ZooKeeperSession session = new ZooKeeperSession(settings, context);
        try {
            Optional<Supplier<ZooKeeper>> supplied = settings.handleSupplier();
            if (supplied.isPresent()) {
                session.useSuppliedHandle(supplied.get().get());
            } else {
                ZooKeeper handle = ZooKeeperHandles.open(settings, context.requestTimeout(), session);
                session.zooKeeper.complete(new AsyncZooKeeper(handle, context.clock()));
            }
        } catch (RuntimeException | Error e) {
            session.zooKeeper.completeExceptionally(e);
            throw e;
        }
        return session;
    }

    private void useSuppliedHandle(ZooKeeper handle) {
        zooKeeper.complete(new AsyncZooKeeper(handle, context.clock()));
        if (!handle.getState().isAlive()) {
            ended = true;
            ready.fail(unavailable("the application's ZooKeeper handle is " + handle.getState()
                    + ", its supplier must return a new one"));
            closed.complete(null);
            return;
        }
        watchStates();
    }

    /**
     * Watches a node that never exists, to be notified of state changes of an application-supplied handle: the handle's default
     * watcher belongs to the application.
     */
    private void watchStates() {
        if (ended) {
            return;
        }
        zooKeeper()
                .handle()
                .addWatch(
                        stateWatchPath(),
                        this,
                        AddWatchMode.PERSISTENT,
                        (rc, path, ignored) -> {
                            if (rc == Code.OK.intValue()) {
                                connected();
                            } else if (!zooKeeper().handle().getState().isAlive()) {
                                end("the application's ZooKeeper handle is "
                                        + zooKeeper().handle().getState());
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

    /**
     * Returns the object that sends the session's requests. Waits for the handle's constructor to return, since the handle's
     * event thread may call this earlier.
     */
    public AsyncZooKeeper zooKeeper() {
        return zooKeeper.join();
    }

    /** Returns the registry of the listeners for node events. */
    public NodeWatchRegistry watches() {
        return watches;
    }

    /** Returns whether Mortise, rather than the application, opened the handle. */
    public boolean isManaged() {
        return managed;
    }

    /** Returns the number of the connection, which increases with each disconnect and reconnect, in the order of the events. */
    public long connection() {
        return connection;
    }

    /** Returns whether the session has ended for leases and waiters. */
    @Override
    public boolean hasEnded() {
        return ended;
    }

    /** Returns whether the server deletes the nodes of the ended session without a request. */
    private boolean serverDeletesNodes() {
        return managed || !zooKeeper().handle().getState().isAlive();
    }

    /**
     * Returns a future that completes once a reply has proved that the session is alive. It fails with the exception for waiters
     * if the session ends before that.
     * A caller that no longer waits cancels it.
     */
    public CompletableFuture<ZooKeeperSessionValidity> ready() {
        LockException refused = refusal;
        return refused == null ? ready.join() : CompletableFuture.failedFuture(refused);
    }

    /** Returns the session's validity; empty until the session is ready. */
    public Optional<ZooKeeperSessionValidity> validity() {
        return ready.openSession();
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == Event.EventType.None) {
            stateChanged(event.getState());
        } else {
            if (event.getState() == Event.KeeperState.Disconnected) {
                // The removal of a watch was lost with the connection. Then no separate event reports the new state.
                disconnected();
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
            case AuthFailed ->
                refused(new BackendRefusedException(endpoints
                        + " refused the client's credentials: authentication failed. Check the user and the password"));
            default -> log.debug("event=session-state-ignored state={}", state);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only changed on the handle's event thread
    private void connected() {
        connection++;
        validity()
                .ifPresent(
                        ZooKeeperSessionValidity
                                ::checkDeadline); // a reconnect after the deadline must not revive leases
        if (ended) {
            return;
        }
        if (validity().isEmpty()) {
            heartbeat.start();
        } else if (negotiatedTimeout().compareTo(validity().get().sessionTimeout()) < 0) {
            // the deadline was calculated from the longer timeout
            end("the server shortened the session timeout to " + negotiatedTimeout());
        } else {
            NodeWatchRegistry.notify(contenders, NodeOwner::reconnected);
        }
    }

    /** Ends the session, since waiting would not help. */
    void refused(LockException why) {
        refusal = why;
        ready.fail(why);
        end(String.valueOf(why.getMessage()));
    }

    String endpoints() {
        return endpoints;
    }

    /** Returns the timeout that the current server granted. Another server may have other limits. */
    Duration negotiatedTimeout() {
        return Duration.ofMillis(zooKeeper().handle().getSessionTimeout());
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only changed on the handle's event thread
    private void disconnected() {
        connection++;
    }

    /** Makes the session ready. Returns false if it has already ended. */
    boolean markReady(ZooKeeperSessionValidity validity) {
        log.info(
                "event=session-ready session=0x{} timeout_ms={}",
                sessionId(),
                validity.sessionTimeout().toMillis());
        return ready.complete(validity);
    }

    /** Sends one liveness check, which renews the session and thus every grant on it. */
    void renew(ZooKeeperSessionValidity validity) {
        heartbeat.renew(validity);
    }

    /** Ends the session, because the server, the application or a reply reported its end. */
    public void end(String why) {
        end(new LossReason(LossReason.Kind.SESSION_ENDED, why));
    }

    /**
     * Ends the session: reports the loss of all leases, then wakes the waiters to use a new session, then closes the handle.
     */
    @Override
    public void end(LossReason reason) {
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
        boolean serverDeletesNodes = serverDeletesNodes();
        NodeWatchRegistry.notify(contenders, contender -> contender.sessionEnded(this, serverDeletesNodes));
        if (managed) {
            startClosing();
            return;
        }
        if (zooKeeper().handle().getState().isAlive()) {
            // Not removeWatches: it only checks whether the server has the watch, and does not remove it there.
            zooKeeper()
                    .handle()
                    .removeAllWatches(stateWatchPath(), WatcherType.Any, false, (rc, path, ignored) -> {}, null);
        }
        closed.complete(null);
    }

    /**
     * Registers a contender that is about to create a node. On an application-supplied handle that node can outlive this
     * session.
     *
     * @return false if the session has ended, so that the contender must not create a node
     */
    public boolean register(NodeOwner contender) {
        contenders.add(contender);
        return !ended;
    }

    /** Removes a contender that certainly no longer has a node. */
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

    /** Closes a managed handle on a thread that may block. Until then the server keeps the nodes of the session. */
    private void startClosing() {
        try {
            context.blocking().execute(this::closeHandle);
        } catch (RejectedExecutionException e) { // the client has ended, and its threads
            closeHandle();
        } catch (RuntimeException | Error e) { // for example no threads are available, which passes
            log.warn("event=handle-close-delayed session=0x{}", sessionId(), e);
            context.clock().schedule(CLOSE_RETRY, this::startClosing);
        }
    }

    /**
     * Closes a managed handle. Blocks until the server has ended the session and deleted its nodes, or the timeout has passed.
     */
    private void closeHandle() {
        try {
            ZooKeeperHandles.close(zooKeeper().handle());
        } finally {
            closed.complete(null);
        }
    }

    /**
     * Returns a future that completes when a managed handle has been closed. For an application-supplied handle, which stays
     * open, it completes when the session ends.
     */
    @Override
    public CompletableFuture<Void> closed() {
        return closed;
    }

    String sessionId() {
        return Long.toHexString(zooKeeper().handle().getSessionId());
    }
}
