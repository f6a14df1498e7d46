// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.queue.QueueReplica;
import io.mortise.lock.etcd.queue.QueuedContenders;
import io.mortise.lock.etcd.session.EtcdSession;
import io.mortise.lock.etcd.session.EtcdSessionManager;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.DeferredWatches;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One contender: a key under the lock's name, attached to the session's lease. The one that was created first holds the lock,
 * and the revision of its creation is the token. What it hears and how it ends is here; how it comes to stand in the queue is in
 * {@link AcquireTransactions}, and who is to be woken is decided in the queue.
 *
 * <p>The core does not overlap calls, but the answer to one that ran into its deadline may still come: it is not listened to,
 * and the request counts as one that may yet be executed.
 */
public final class EtcdContender implements Contender, QueuedContenders.Member, DeferredWatches.Held {
    /** How long a grant is held before its key is watched; twice this, and two round trips, are well below 200 ms (S7). */
    public static final Duration WATCH_OWN_KEY_AFTER = Duration.ofMillis(50);

    private static final AttemptResult WAITING = new AttemptResult.Waiting(Duration.ofSeconds(5));

    /** How long the holder of a deleted key waits to hear whether its session went with it. */
    private static final Duration REASON_WITHIN = Duration.ofMillis(100);

    /** Returns what {@link Contender#unwrap} is asked for, of the key and the revision that created it. */
    public interface Unwrapper {
        /** Empty if it is asked for something else. */
        <T> Optional<T> unwrap(Class<T> type, ByteSequence key, long revision);
    }

    private final EtcdSessionManager sessions;
    private final LockClock clock;
    private final DeferredWatches deferredWatches;
    private final Unwrapper unwrapper;
    private final LockRequest request;
    private final ContenderListener waiter;
    private final AcquireTransactions steps;
    private final KeyRemoval removal;
    private final SequencedAcquire inOrder;

    @GuardedBy("this")
    private boolean granted;

    /** Its key was deleted by somebody else. */
    @GuardedBy("this")
    private boolean removed;

    @GuardedBy("this")
    private boolean ended;

    /** Its key is being taken away. */
    @GuardedBy("this")
    private boolean leaving;

    /** Its slot is another's. */
    @GuardedBy("this")
    private boolean left;

    /** Sends nothing yet. */
    public EtcdContender(
            EtcdSessionManager sessions,
            LockClock clock,
            DeferredWatches deferredWatches,
            Unwrapper unwrapper,
            LockRequest request,
            ContenderListener waiter) {
        this.sessions = sessions;
        this.clock = clock;
        this.deferredWatches = deferredWatches;
        this.unwrapper = unwrapper;
        this.request = request;
        this.waiter = waiter;
        this.steps = new AcquireTransactions(sessions.requests(), request);
        this.removal = new KeyRemoval(sessions.requests(), request.name().value(), steps.record());
        this.inOrder = new SequencedAcquire(WAITING, waiter);
    }

    /** Who waits is asked for again by the core; who does not has one attempt, of as many tries as there is time for. */
    @Override
    public CompletionStage<AttemptResult> attempt() {
        return request.mayWait() ? once() : sessions.requests().repeated(this::once, () -> !isEnded());
    }

    private CompletionStage<AttemptResult> once() {
        EtcdQueueEntry known = steps.position();
        if (known != null) {
            return ask(known);
        }
        EtcdSession on = sessions.current();
        return on.validity().isPresent() ? begin(on) : on.ready().thenCompose(validity -> begin(on));
    }

    private CompletionStage<AttemptResult> begin(EtcdSession on) {
        if (isEnded()) {
            throw new BackendUnavailableException("acquire of lock \"" + request.name() + "\": withdrawn");
        }
        EtcdSession.Entry entry = on.enter(request.name());
        EtcdQueueEntry first = EtcdQueueEntry.in(on, entry.queue(), entry.slot());
        steps.enter(first);
        return ask(first);
    }

    private CompletionStage<AttemptResult> ask(EtcdQueueEntry at) {
        if (isRemoved()) {
            return CompletableFuture.completedFuture(keyGone(at));
        }
        boolean isQueued = at.since() != 0;
        if (isQueued || !request.mayWait()) { // an attempt that does not wait needs no order either
            return steps.go().thenApply(this::attempted);
        }
        return inOrder.send(
                at.queue().order(),
                () -> steps.go().thenApply(found -> new SequencedAcquire.Heard(attempted(found), () -> taken(found))));
    }

    private AttemptResult attempted(AcquireTransactions.Standing found) {
        EtcdQueueEntry at = found.at();
        return switch (found.finding()) {
            case FIRST -> grant(at);
            case BEHIND -> await(at);
            case BUSY -> WAITING;
            case KEY_GONE -> keyGone(at);
            case SESSION_OVER -> sessionEnded(at);
        };
    }

    /** Whether the lock has an owner now who is not about to leave. */
    private boolean taken(AcquireTransactions.Standing found) {
        return switch (found.finding()) {
            case FIRST -> !isLeaving();
            case BEHIND -> found.at().queue().isTaken(found.contenders(), isLeaving());
            default -> false;
        };
    }

    private AttemptResult await(EtcdQueueEntry at) {
        at.queue().await(this);
        // A session that ended before we listened wakes nobody.
        return at.on().hasEnded() ? sessionEnded(at) : WAITING;
    }

    private AttemptResult grant(EtcdQueueEntry at) {
        synchronized (this) {
            granted = true;
        }
        if (!at.queue().granted(this)) {
            deferredWatches.add(this); // the grant is valid without it, only the notice of a deletion depends on it
        }
        return new AttemptResult.Granted(at.since(), at.on().validity().orElseThrow());
    }

    /** The core forgets a displaced contender; what it has in the store goes with the session's lease. */
    private AttemptResult sessionEnded(EtcdQueueEntry at) {
        leave(at);
        return new AttemptResult.Displaced("the session with " + sessions.endpoints() + " ended");
    }

    private AttemptResult keyGone(EtcdQueueEntry at) {
        if (steps.unanswered().mayCome()) {
            sessions.cleanUp("a request for lock \"" + request.name() + "\" without an answer", this::end);
        } else {
            leave(at);
        }
        return new AttemptResult.Displaced("the key of lock \"" + request.name() + "\" in the queue at "
                + sessions.endpoints() + " was deleted, and not by its owner");
    }

    private synchronized boolean isEnded() {
        return ended;
    }

    private synchronized boolean isRemoved() {
        return removed;
    }

    private synchronized boolean isLeaving() {
        return leaving;
    }

    @Override
    public QueueReplica.ContenderKey contenderKey() {
        EtcdQueueEntry at = standing();
        return new QueueReplica.ContenderKey(at.key(), at.since());
    }

    private EtcdQueueEntry standing() {
        EtcdQueueEntry at = steps.position();
        if (at == null) {
            throw new IllegalStateException("it has no position in the queue");
        }
        return at;
    }

    @Override
    public void firstInQueue() {
        waiter.wake();
    }

    @Override
    public void deleted() {
        boolean held;
        synchronized (this) {
            removed = true;
            held = granted;
        }
        if (!held) {
            waiter.wake();
            return;
        }
        // With the session go all keys at once: then that is the reason, and not a deletion.
        CompletableFuture<Boolean> checked = new CompletableFuture<>();
        standing().on().checkAlive().whenComplete((there, failure) -> checked.complete(true));
        clock.schedule(REASON_WITHIN, () -> checked.complete(true));
        checked.whenComplete(
                (there, failure) -> waiter.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's key was deleted")));
    }

    @Override
    public void watchOwn() {
        EtcdQueueEntry at = steps.position();
        if (at != null && !at.on().hasEnded()) {
            at.queue().guard(this);
            if (isEnded()) { // meanwhile: then nobody else makes it forget
                at.queue().forget(this);
            }
        }
    }

    @Override
    public CompletionStage<Boolean> end() {
        deferredWatches.remove(this);
        steps.unanswered().end();
        EtcdQueueEntry at = steps.position();
        boolean leaves;
        synchronized (this) {
            ended = true;
            leaves = at != null && at.since() != 0 && !leaving && !left;
            leaving |= leaves;
        }
        if (at == null) {
            return CompletableFuture.completedFuture(false);
        }
        if (leaves) {
            at.queue().leaving();
        }
        at.queue().order().leave(inOrder);
        at.queue().forget(this);
        if (at.since() == 0 && !steps.unanswered().mayBeThere()) {
            leave(at);
            return CompletableFuture.completedFuture(false);
        }
        if (at.on().hasEnded()) {
            return sessionGone(at);
        }
        CompletionStage<Boolean> removed = steps.unanswered().mayCome()
                ? removal.withdraw(at, steps.unanswered().epoch())
                : removal.release(at);
        return removed.handle((was, failure) -> {
                    if (failure == null) {
                        leave(at);
                        return CompletableFuture.completedFuture(was);
                    }
                    if (EtcdErrors.isLeaseGone(failure)) {
                        at.on().end("its lease no longer exists");
                    }
                    return at.on().hasEnded() ? sessionGone(at) : CompletableFuture.<Boolean>failedFuture(failure);
                })
                .thenCompose(stage -> stage);
    }

    private CompletableFuture<Boolean> sessionGone(EtcdQueueEntry at) {
        return sessions.withTimeout("the end of a session", at.on().removal())
                .thenApply(removed -> {
                    leave(at);
                    return false;
                })
                .toCompletableFuture();
    }

    private void leave(EtcdQueueEntry at) {
        at.queue().order().leave(inOrder);
        at.queue().forget(this);
        boolean first;
        boolean announced;
        synchronized (this) {
            first = !left;
            left = true;
            announced = leaving;
        }
        if (first) {
            at.queue().leave(at.slot(), announced);
        }
    }

    @Override
    public void abandon() {
        EtcdQueueEntry at = steps.position();
        if (at != null) {
            at.on().end("a key of it could not be deleted for a whole lease");
        }
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        EtcdQueueEntry at = steps.position();
        return at != null && at.since() != 0 ? unwrapper.unwrap(type, at.key(), at.since()) : Optional.empty();
    }
}
