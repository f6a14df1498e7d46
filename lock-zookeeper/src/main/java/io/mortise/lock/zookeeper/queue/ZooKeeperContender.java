// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.support.SerialMachine;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailAttempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailEnd;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailNumbersUsedUp;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Listen;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.LogOrphan;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportGranted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.RetryWatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendList;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRemoval;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unlisten;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unwatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Watch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Abandon;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Attempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.CreateFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.End;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ListFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NoSession;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeChanged;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeDeleted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ReadFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Reconnected;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalDue;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.SessionEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.SessionReady;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchDue;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchFailed;
import io.mortise.lock.zookeeper.session.NodeWatchRegistry;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionManager;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires and later releases one lock, using an ephemeral sequential node in the lock's queue.
 * {@link ZooKeeperContenderState} decides what to do: calls, responses and watch events are its events, and this class performs
 * its effects.
 *
 * <p>The core does not overlap calls, but a request of a call that timed out may still be on its way. The next call then waits
 * for it too.
 */
public final class ZooKeeperContender
        implements Contender, NodeWatchRegistry.Listener, LongHoldWatchScheduler.Held, ZooKeeperSession.NodeOwner {
    /** Returns backend-specific objects of a contender, to implement {@link Contender#unwrap}. */
    public interface Unwrapper {
        /**
         * Returns an object of this type; empty for types that are not supported.
         *
         * @param handle the handle of the contender's session
         * @param node the path of the contender's node
         */
        <T> Optional<T> unwrap(Class<T> type, ZooKeeper handle, String node);
    }

    /** The time for which a lease is held before its node is watched. A deletion must be reported within a second (S7). */
    public static final Duration WATCH_OWN_NODE_AFTER = Duration.ofMillis(100);

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperContender.class);
    private static final Duration FALLBACK = Duration.ofSeconds(5);

    /** Not the client's timer: the client may be closed long before the application's handle reconnects. */
    private static final Executor LATER = CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS, Runnable::run);

    private final ZooKeeperSessionManager sessions;
    private final LockContainerNodeLifecycle lockNodes;
    private final LongHoldWatchScheduler deferredWatches;
    private final Unwrapper unwrapper;
    private final LockRequest request;
    private final ContenderListener listener;
    private final SerialMachine<ZooKeeperContenderState, ZooKeeperContenderEvent, ZooKeeperContenderEffect> machine;

    /** The future that the present call of the core has returned. */
    private CompletableFuture<AttemptResult> attempt = new CompletableFuture<>();

    private CompletableFuture<Boolean> end = new CompletableFuture<>();

    /** The session of the contender; null until there is one. */
    private volatile @Nullable ZooKeeperSession session;

    private volatile @Nullable CompletableFuture<?> awaited; // the session, once it is open
    private @Nullable ZooKeeperContenderRequests requests; // used by effects only
    private @Nullable String own; // the contender's node; written before the grant is reported

    /** Creates a contender that has no node yet. */
    public ZooKeeperContender(
            ZooKeeperSessionManager sessions,
            LockContainerNodeLifecycle lockNodes,
            LongHoldWatchScheduler deferredWatches,
            Unwrapper unwrapper,
            LockRequest request,
            ContenderListener listener) {
        this.sessions = sessions;
        this.lockNodes = lockNodes;
        this.deferredWatches = deferredWatches;
        this.unwrapper = unwrapper;
        this.request = request;
        this.listener = listener;
        ZooKeeperContenderState initial = ZooKeeperContenderState.initial(
                lockNodes.paths().lockNode(request.name()),
                ContenderNode.prefix(request.attemptId()),
                request.mayWait());
        this.machine = new SerialMachine<>(initial, ZooKeeperContenderState::on, this::perform, this::failed);
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        CompletableFuture<AttemptResult> result = new CompletableFuture<>();
        attempt = result;
        machine.accept(new Attempt());
        return result.isDone() ? result : sessions.withTimeout(acquireDescription(), result);
    }

    @Override
    public CompletionStage<Boolean> end() {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        end = result;
        machine.accept(new End());
        CompletableFuture<?> ready = awaited;
        if (ready != null) {
            ready.cancel(false); // else the session would keep the contender until it opens
        }
        return result.isDone() ? result : sessions.withTimeout(releaseDescription(), result);
    }

    @Override
    public void abandon() {
        if (session != null) {
            machine.accept(new Abandon());
        }
    }

    private long connection() {
        ZooKeeperSession bound = session;
        return bound == null ? WatchedQueue.NEVER : bound.connection();
    }

    /** Watches the contender's own node if the lock is granted. Does not wait. */
    @Override
    public void registerWatch() {
        machine.accept(new WatchDue(connection()));
    }

    @Override
    public void nodeDeleted(String path, boolean released) {
        machine.accept(new NodeDeleted(path, connection(), released));
    }

    @Override
    public void nodeChanged(String path) {
        machine.accept(new NodeChanged(path));
    }

    /** Checks the watches: ZooKeeper's client registers them again after a reconnect, but can be configured not to. */
    @Override
    public void reconnected() {
        machine.accept(new Reconnected(connection()));
    }

    @Override
    public void sessionEnded(ZooKeeperSession of, boolean serverDeletesNodes) {
        if (of.equals(session)) { // not if the contender, told late, has left that session for the next one
            machine.accept(new SessionEnded(serverDeletesNodes));
        }
    }

    /** Returns the event for an effect that could not be performed. */
    private @Nullable ZooKeeperContenderEvent failed(ZooKeeperContenderEffect effect, Throwable cause) {
        if (effect == Plain.AWAIT_SESSION) {
            return new NoSession(cause);
        } else if (effect == Plain.SEND_CREATE || effect == Plain.SEND_CREATE_WITH_LOCK_NODE) {
            return new CreateFailed(cause);
        } else if (effect instanceof SendList) {
            return new ListFailed(cause);
        } else if (effect instanceof SendRead) {
            return new ReadFailed(cause);
        } else if (effect instanceof Watch watch) {
            return new WatchFailed(watch.path(), connection(), cause);
        } else if (effect instanceof SendRemoval) {
            return new RemovalFailed(cause);
        }
        return null;
    }

    private void perform(ZooKeeperContenderEffect effect) {
        if (effect instanceof Plain plain) {
            perform(plain);
        } else if (effect instanceof SendList send) {
            requests().list(send.commitFirst());
        } else if (effect instanceof SendRead send) {
            requests().read(send.path());
        } else if (effect instanceof SendRemoval send) {
            deferredWatches.remove(this);
            requests().remove(send.path());
        } else if (effect instanceof Listen listen) {
            own = listen.path();
            requests().listen(listen.path());
        } else if (effect instanceof Unlisten unlisten) {
            requests().unlisten(unlisten.path());
        } else if (effect instanceof Watch watch) {
            requests().watch(watch.path());
        } else if (effect instanceof Unwatch unwatch) {
            requests().unwatch(unwatch.path());
        } else if (effect instanceof RetryWatch retry) {
            log.info(
                    "event=own-watch-failed lock=\"{}\" cause=\"{}\"",
                    request.name(),
                    retry.failure().toString());
            deferredWatches.add(this);
        } else if (effect instanceof ReportGranted granted) {
            reportGranted(granted.token());
        } else if (effect instanceof FailAttempt failure) {
            machine.fail(
                    attempt,
                    ZooKeeperErrors.toLockException(failure.failure(), acquireDescription(), sessions.endpoints()));
        } else if (effect instanceof FailNumbersUsedUp used) {
            requests().deleteWithLockNode(used.path()); // before the caller's next create
            machine.fail(
                    attempt,
                    new BackendRefusedException(acquireDescription() + " at " + sessions.endpoints()
                            + ": the lock's node has used up its sequence numbers. Try again when its other contenders have"
                            + " left: the node is then replaced"));
        } else if (effect instanceof ReportEnded ended) {
            machine.complete(end, ended.existed());
        } else if (effect instanceof FailEnd failure) {
            machine.fail(
                    end,
                    ZooKeeperErrors.toLockException(failure.failure(), releaseDescription(), sessions.endpoints()));
        } else if (effect instanceof LogOrphan orphan) {
            log.warn(
                    "event=node-not-deleted lock=\"{}\" cause=\"{}\"",
                    request.name(),
                    orphan.failure().toString());
        }
    }

    private void perform(Plain effect) {
        switch (effect) {
            case AWAIT_SESSION -> awaitSession();
            case SEND_CREATE -> {
                if (isRegistered()) {
                    requests().create();
                }
            }
            case SEND_CREATE_WITH_LOCK_NODE -> requests().createWithLockNode();
            case DEREGISTER -> {
                deferredWatches.remove(this);
                session().deregister(this);
            }
            case LOCK_NODE_UNUSED ->
                lockNodes.markUnused(session(), lockNodes.paths().lockNode(request.name()));
            case DEFER_WATCH -> deferredWatches.add(this);
            case DEFER_REMOVAL -> LATER.execute(() -> machine.accept(new RemovalDue()));
            case WAKE_WAITER -> machine.afterwards(listener::wake);
            case REPORT_LOSS ->
                machine.afterwards(
                        () -> listener.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's node was deleted")));
            case REPORT_WAITING -> machine.complete(attempt, new AttemptResult.Waiting(FALLBACK));
            case REPORT_NODE_DELETED ->
                displaced("another client deleted the queued node of lock \"" + request.name() + "\" at "
                        + sessions.endpoints());
            case REPORT_SESSION_ENDED -> displaced("the session with " + sessions.endpoints() + " ended");
            case FAIL_RESTLESS ->
                machine.fail(
                        attempt,
                        new BackendUnavailableException(
                                acquireDescription() + " at " + sessions.endpoints() + ": the queue changes too fast"));
            case END_SESSION -> session().end("one of its nodes could not be deleted for a whole session timeout");
        }
    }

    private void displaced(String why) {
        machine.complete(attempt, new AttemptResult.Displaced(why));
    }

    /** A call that has had the answer of the one before, which timed out, is told to ask again. */
    private void reportGranted(long token) {
        CompletableFuture<AttemptResult> call = attempt;
        AttemptResult granted =
                new AttemptResult.Granted(token, session().validity().orElseThrow());
        machine.afterwards(() -> {
            if (!call.complete(granted)) {
                listener.wake();
            }
        });
    }

    private void awaitSession() {
        ZooKeeperSession current = sessions.current();
        session = current;
        requests = new ZooKeeperContenderRequests(current, lockNodes, request, this, machine);
        CompletableFuture<?> ready = current.ready();
        awaited = ready;
        ready.whenComplete(
                (validity, failure) -> machine.accept(failure == null ? new SessionReady() : new NoSession(failure)));
    }

    /** Registers the contender before its node is created. If the session has ended, no node will be created. */
    private boolean isRegistered() {
        boolean registered = session().register(this);
        if (!registered) {
            machine.accept(new SessionEnded(true));
        }
        return registered;
    }

    private ZooKeeperSession session() {
        return Objects.requireNonNull(session);
    }

    private ZooKeeperContenderRequests requests() {
        return Objects.requireNonNull(requests);
    }

    private String acquireDescription() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    private String releaseDescription() {
        return "release of lock \"" + request.name() + "\"";
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return own == null
                ? Optional.empty()
                : unwrapper.unwrap(type, session().zooKeeper().handle(), own);
    }
}
