// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.support.StageFailures;
import io.mortise.lock.zookeeper.session.NodeWatchRegistry;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionManager;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires and later releases one lock, using an ephemeral sequential node in the lock's queue.
 *
 * <p>Each contender makes one attempt to acquire the lock. The contender whose node has the lowest sequence number holds the
 * lock. Each other contender watches its own node and the two nodes directly ahead of it. This class implements the steps of
 * the protocol; {@link ContenderNodeStateMachine} keeps their results.
 *
 * <p>The core does not overlap calls, but a call that timed out may still be running here; the next call then waits for it too.
 * Events arrive on the session's event thread.
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
    private static final int MAX_ROUNDS = 20;

    private final ZooKeeperSessionManager sessions;
    private final LongHoldWatchScheduler deferredWatches;
    private final Unwrapper unwrapper;
    private final LockRequest request;
    private final ContenderListener listener;
    private final String lockNode;
    private final ContenderNodeStateMachine state = new ContenderNodeStateMachine();
    private final ContenderWatches watches = new ContenderWatches(state, this);
    private final ContenderNodeOperations node;
    private volatile @Nullable ZooKeeperSession boundSession;
    private @Nullable CompletableFuture<AttemptResult> runningAttempt; // touched by attempt() and end() only
    private @Nullable CompletableFuture<Boolean> runningRemoval; // touched by end() only

    /** Creates a contender that has no node yet. */
    public ZooKeeperContender(
            ZooKeeperSessionManager sessions,
            LockContainerNodeLifecycle lockNodes,
            LongHoldWatchScheduler deferredWatches,
            Unwrapper unwrapper,
            LockRequest request,
            ContenderListener listener) {
        this.sessions = sessions;
        this.deferredWatches = deferredWatches;
        this.unwrapper = unwrapper;
        this.request = request;
        this.listener = listener;
        this.lockNode = lockNodes.paths().lockNode(request.name());
        this.node = new ContenderNodeOperations(lockNodes, request, state, watches);
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        ZooKeeperSession bound = boundSession;
        if (bound == null) {
            bound = sessions.current();
            boundSession = bound;
        }
        ZooKeeperSession session = bound;
        if (runningAttempt == null || runningAttempt.isDone()) {
            runningAttempt = session.ready()
                    .thenCompose(validity -> nextStep(session, MAX_ROUNDS))
                    .handle((attempt, failure) -> failure == null ? attempt : onFailure(session, failure))
                    .toCompletableFuture();
        }
        return runningAttempt.isDone() ? runningAttempt : sessions.withTimeout(acquireDescription(), runningAttempt);
    }

    private AttemptResult onFailure(ZooKeeperSession session, Throwable failure) {
        if (ZooKeeperErrors.hasCode(failure, Code.SESSIONEXPIRED)) {
            session.end("the session expired");
        }
        if (session.hasEnded() && session.validity().isPresent()) {
            return displacedBySessionEnd(session);
        }
        if (session.hasEnded()) {
            boundSession = null; // it was never ready, so nothing was sent on it: the next attempt uses a new session
        }
        throw new CompletionException(
                ZooKeeperErrors.toLockException(failure, acquireDescription(), sessions.endpoints()));
    }

    /** The core forgets a displaced contender, so on an application-supplied handle the session deletes a possible orphan. */
    private AttemptResult displacedBySessionEnd(ZooKeeperSession session) {
        state.beginRelease();
        watches.removeAll(session);
        return new AttemptResult.Displaced("the session with " + sessions.endpoints() + " ended");
    }

    /** Retries until the server has replied, even if the client is closed and the core no longer retries. */
    @Override
    public void deleteOrphan() {
        ZooKeeperSession session = boundSession;
        if (session == null) {
            return;
        }
        state.beginRelease();
        remove(session).whenComplete((existed, failure) -> {
            if (failure == null) {
                return;
            }
            boolean connectionLost = StageFailures.unwrap(failure).getCause() instanceof KeeperException keeper
                    && keeper.code() == Code.CONNECTIONLOSS;
            if (connectionLost && !session.serverDeletesNodes()) {
                deleteOrphan(); // not a busy loop: the request ends after the handle has reconnected, or has tried to
            } else {
                log.warn("event=node-not-deleted lock=\"{}\" cause=\"{}\"", request.name(), failure.toString());
            }
        });
    }

    private AttemptResult displacedByDeletion(ZooKeeperSession session) {
        state.beginRelease();
        session.deregister(this);
        watches.removeAll(session);
        return new AttemptResult.Displaced(
                "another client deleted the queued node of lock \"" + request.name() + "\" at " + sessions.endpoints());
    }

    /** Takes the next step of the protocol, which may follow a step of an earlier attempt. */
    private CompletionStage<AttemptResult> nextStep(ZooKeeperSession session, int rounds) {
        if (state.isDeleted()) {
            return completed(displacedByDeletion(session));
        }
        if (state.isHeadOfQueue()) {
            return completed(grant(session));
        }
        if (session.hasEnded()) {
            return completed(displacedBySessionEnd(session));
        }
        if (rounds == 0) {
            throw new BackendUnavailableException(
                    acquireDescription() + " at " + sessions.endpoints() + ": the queue changes too fast");
        }
        if (state.node().isPresent()) {
            return session.zooKeeper()
                    .queue(lockNode, !state.areAllWatchesValid(session.connection()))
                    .thenCompose(children -> evaluate(session, children, rounds));
        }
        return state.mayExist()
                ? node.find(session).thenCompose(done -> nextStep(session, rounds - 1))
                : createNode(session, rounds);
    }

    private CompletionStage<AttemptResult> createNode(ZooKeeperSession session, int rounds) {
        if (!state.beginCreate()) {
            throw new BackendUnavailableException(acquireDescription() + " was withdrawn");
        }
        if (!session.register(this)) {
            state.markNotCreated();
            session.deregister(this);
            return completed(displacedBySessionEnd(session));
        }
        return node.create(session)
                .thenCompose(children -> children.isPresent()
                        ? evaluate(session, children.get(), rounds)
                        : nextStep(session, rounds - 1));
    }

    private CompletionStage<AttemptResult> evaluate(ZooKeeperSession session, List<String> children, int rounds) {
        String name = state.ownNode().substring(lockNode.length() + 1);
        List<ContenderNode> queue = ContenderNode.queue(children, Optional.of(name));
        int position = 0;
        while (position < queue.size() && !queue.get(position).name().equals(name)) {
            position++;
        }
        if (position == queue.size()) {
            return completed(displacedByDeletion(session));
        }
        if (position == 0) {
            return completed(grant(session));
        }
        if (!request.mayWait()) {
            return completed(new AttemptResult.Waiting(FALLBACK));
        }
        List<String> nearest =
                queue.subList(Math.max(0, position - ContenderNodeStateMachine.MAX_WATCHED), position).stream()
                        .map(ahead -> lockNode + "/" + ahead.name())
                        .toList();
        return watches.watchPredecessors(session, nearest, position > nearest.size())
                .thenCompose(ownExists -> {
                    if (!ownExists) {
                        return completed(displacedByDeletion(session));
                    }
                    if (state.isHeadOfQueue() || state.shouldListAgain()) {
                        return nextStep(session, rounds - 1);
                    }
                    // A session that ended before the listener was added does not wake this contender.
                    return completed(
                            session.hasEnded() ? displacedBySessionEnd(session) : new AttemptResult.Waiting(FALLBACK));
                });
    }

    private AttemptResult grant(ZooKeeperSession session) {
        OptionalLong token = state.grant();
        if (token.isEmpty()) {
            return displacedByDeletion(session);
        }
        watches.forgetPredecessors(session);
        if (!state.isOwnWatchValid(session.connection())) {
            deferredWatches.add(this); // the grant is valid without the watch, which only reports a deletion
        }
        return new AttemptResult.Granted(token.getAsLong(), session.validity().orElseThrow());
    }

    /** Watches the contender's own node if the lock is granted. Does not wait. */
    @Override
    public void registerWatch() {
        ZooKeeperSession session = boundSession;
        if (session != null && state.isGranted() && !state.isOwnWatchValid(session.connection())) {
            String own = state.ownNode();
            watches.watchOwnNode(session).whenComplete((exists, failure) -> {
                if (failure != null) {
                    onOwnWatchFailed(session, failure);
                } else if (!exists) {
                    nodeDeleted(own, false);
                }
            });
        }
    }

    /** Retries later, except after a lost connection, since the reconnect triggers a retry, and if an ACL forbids the watch. */
    private void onOwnWatchFailed(ZooKeeperSession session, Throwable failure) {
        if (!ZooKeeperErrors.hasCode(failure, Code.CONNECTIONLOSS)
                && !ZooKeeperErrors.hasCode(failure, Code.NOAUTH)
                && !session.hasEnded()) {
            log.info("event=own-watch-failed lock=\"{}\" cause=\"{}\"", request.name(), failure.toString());
            deferredWatches.add(this);
        }
    }

    @Override
    public boolean isReleasing(String path) {
        return state.isReleasing(path);
    }

    @Override
    public void nodeDeleted(String path, boolean released) {
        ZooKeeperSession session = boundSession;
        if (session == null) {
            return;
        }
        switch (state.nodeDeleted(path, session.connection(), released)) {
            case REPORT_LOSS -> listener.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's node was deleted"));
            case RETRY_ATTEMPT -> listener.wake();
            case NONE -> {}
        }
    }

    @Override
    public void nodeChanged(String path) {
        state.markUnwatched(path);
        recheck();
    }

    /** Checks the watches: ZooKeeper's client registers them again after a reconnect, but can be configured not to. */
    @Override
    public void reconnected() {
        recheck();
    }

    private void recheck() {
        registerWatch();
        listener.wake(); // also after a grant: its result may not have reached the core
    }

    @Override
    public void sessionEnded() {
        listener.wake();
    }

    @Override
    public CompletionStage<Boolean> end() {
        deferredWatches.remove(this);
        ZooKeeperSession session = boundSession;
        boolean mayHaveNode = state.beginRelease();
        if (session == null || !mayHaveNode || session.serverDeletesNodes()) {
            if (session != null) {
                watches.removeAll(session);
                session.deregister(this);
            }
            return CompletableFuture.completedFuture(false);
        }
        // An attempt that timed out may still be running, and only its end shows what it has created. An earlier
        // removal may
        // still be running too, and one is enough.
        if (runningRemoval == null || runningRemoval.isDone()) {
            CompletionStage<Boolean> removed = runningAttempt == null || runningAttempt.isDone()
                    ? remove(session)
                    : runningAttempt.handle((attempt, failure) -> true).thenCompose(done -> remove(session));
            runningRemoval = removed.toCompletableFuture();
        }
        return sessions.withTimeout(releaseDescription(), runningRemoval);
    }

    private CompletionStage<Boolean> remove(ZooKeeperSession session) {
        watches.removePredecessors(session);
        if (session.serverDeletesNodes() || (state.node().isEmpty() && !state.mayExist())) {
            watches.removeAll(session);
            session.deregister(this);
            return CompletableFuture.completedFuture(false);
        }
        return node.delete(session).handle((existed, failure) -> {
            if (failure == null) {
                watches.removeAll(session);
                state.markNotCreated();
                session.deregister(this);
                node.scheduleLockNodeDeletion(session);
                return existed;
            }
            if (ZooKeeperErrors.hasCode(failure, Code.SESSIONEXPIRED)) {
                session.end("the session expired");
                watches.removeAll(session);
                return false;
            }
            throw new CompletionException(
                    ZooKeeperErrors.toLockException(failure, releaseDescription(), sessions.endpoints()));
        });
    }

    @Override
    public void abandon() {
        ZooKeeperSession session = boundSession;
        if (session != null) {
            session.end("one of its nodes could not be deleted for a whole session timeout");
        }
    }

    private String acquireDescription() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    private String releaseDescription() {
        return "release of lock \"" + request.name() + "\"";
    }

    private static CompletionStage<AttemptResult> completed(AttemptResult attempt) {
        return CompletableFuture.completedFuture(attempt);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        ZooKeeperSession session = boundSession;
        return session == null
                ? Optional.empty()
                : unwrapper.unwrap(type, session.zooKeeper().handle(), state.ownNode());
    }
}
