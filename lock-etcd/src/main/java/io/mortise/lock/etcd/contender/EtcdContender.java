// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.queue.LocalContenderNotifier;
import io.mortise.lock.etcd.queue.QueueReplica;
import io.mortise.lock.etcd.session.EtcdSession;
import io.mortise.lock.etcd.session.EtcdSessionManager;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One attempt to acquire a lock on etcd, represented by a key in the lock's queue. The key is attached to the session's
 * lease. The contender whose key was created first holds the lock, and the revision of that creation is the fencing token.
 * This class handles notifications and the end of the contender. {@link AcquireTransactions} puts the key into the queue,
 * and the lock's queue decides which contender is notified.
 *
 * <p>The core does not overlap calls, but the reply to a request that timed out may still arrive. It is ignored, and the
 * request counts as one that may still be executed.
 */
public final class EtcdContender implements Contender, LocalContenderNotifier.Member, LongHoldWatchScheduler.Held {
    /**
     * The time for which a grant is held before its key is watched. Twice this and two round trips are well below 200 ms (S7).
     */
    public static final Duration WATCH_OWN_KEY_AFTER = Duration.ofMillis(50);

    private static final AttemptResult WAITING = new AttemptResult.Waiting(Duration.ofSeconds(5));

    /** The time that the holder of a deleted key waits to find out whether its session has ended as well. */
    private static final Duration REASON_TIMEOUT = Duration.ofMillis(100);

    /** Creates the objects that {@link Contender#unwrap} returns from the key and the revision that created it. */
    public interface Unwrapper {
        /** Returns the object; empty for an unknown type. */
        <T> Optional<T> unwrap(Class<T> type, ByteSequence key, long revision);
    }

    private final EtcdSessionManager sessions;
    private final LockClock clock;
    private final LongHoldWatchScheduler deferredWatches;
    private final Unwrapper unwrapper;
    private final LockRequest request;
    private final ContenderListener listener;
    private final AcquireTransactions transactions;
    private final ContenderKeyRemoval removal;
    private final InTurnAcquireSender sequencedAcquire;

    @GuardedBy("this")
    private boolean granted;

    /** Whether another client deleted the contender's key. */
    @GuardedBy("this")
    private boolean keyDeleted;

    @GuardedBy("this")
    private boolean ended;

    /** Whether the deletion of its own key has started. */
    @GuardedBy("this")
    private boolean removalStarted;

    /** Whether its slot was freed for another contender. */
    @GuardedBy("this")
    private boolean slotReleased;

    /** Creates a contender; sends nothing yet. */
    public EtcdContender(
            EtcdSessionManager sessions,
            LockClock clock,
            LongHoldWatchScheduler deferredWatches,
            Unwrapper unwrapper,
            LockRequest request,
            ContenderListener listener) {
        this.sessions = sessions;
        this.clock = clock;
        this.deferredWatches = deferredWatches;
        this.unwrapper = unwrapper;
        this.request = request;
        this.listener = listener;
        this.transactions = new AcquireTransactions(sessions.requests(), request);
        this.removal =
                new ContenderKeyRemoval(sessions.requests(), request.name().value(), transactions.record());
        this.sequencedAcquire = new InTurnAcquireSender(WAITING, listener);
    }

    /**
     * Makes one attempt. The core repeats the attempts of a contender that may wait. Any other contender has one attempt,
     * which is retried here as long as time permits.
     */
    @Override
    public CompletionStage<AttemptResult> attempt() {
        return request.mayWait() ? tryOnce() : sessions.requests().retrying(this::tryOnce, () -> !isEnded());
    }

    private CompletionStage<AttemptResult> tryOnce() {
        EtcdQueueEntry known = transactions.entry();
        if (known != null) {
            return sendAcquire(known);
        }
        EtcdSession session = sessions.current();
        return session.validity().isPresent()
                ? joinQueue(session)
                : session.ready().thenCompose(validity -> joinQueue(session));
    }

    private CompletionStage<AttemptResult> joinQueue(EtcdSession session) {
        if (isEnded()) {
            throw new BackendUnavailableException("acquire of lock \"" + request.name() + "\": withdrawn");
        }
        EtcdSession.Slot slot = session.joinQueue(request.name());
        EtcdQueueEntry first = EtcdQueueEntry.withoutKey(session, slot.queue(), slot.slot());
        transactions.setEntry(first);
        return sendAcquire(first);
    }

    private CompletionStage<AttemptResult> sendAcquire(EtcdQueueEntry entry) {
        if (isKeyDeleted()) {
            return CompletableFuture.completedFuture(displacedByDeletion(entry));
        }
        boolean isQueued = entry.createRevision() != 0;
        if (isQueued || !request.mayWait()) { // an attempt that does not wait needs no order
            return transactions.send().thenApply(this::toAttemptResult);
        }
        return sequencedAcquire.send(
                entry.queue().sequencer(),
                () -> transactions
                        .send()
                        .thenApply(result ->
                                new InTurnAcquireSender.Reply(toAttemptResult(result), () -> isTaken(result))));
    }

    private AttemptResult toAttemptResult(AcquireTransactions.Result result) {
        EtcdQueueEntry entry = result.entry();
        return switch (result.state()) {
            case FIRST -> grant(entry);
            case BEHIND -> waitInQueue(entry);
            case BUSY -> WAITING;
            case KEY_DELETED -> displacedByDeletion(entry);
            case SESSION_ENDED -> displacedBySessionEnd(entry);
        };
    }

    /** Returns whether another contender, or this one, has the lock and is not about to leave. */
    private boolean isTaken(AcquireTransactions.Result result) {
        return switch (result.state()) {
            case FIRST -> !isRemovalStarted();
            case BEHIND -> result.entry().queue().isTaken(result.contenderCount(), isRemovalStarted());
            default -> false;
        };
    }

    private AttemptResult waitInQueue(EtcdQueueEntry entry) {
        entry.queue().watchAsWaiter(this);
        // A session that ended before the waiter was registered does not notify it.
        return entry.session().hasEnded() ? displacedBySessionEnd(entry) : WAITING;
    }

    private AttemptResult grant(EtcdQueueEntry entry) {
        synchronized (this) {
            granted = true;
        }
        if (!entry.queue().becameHolder(this)) {
            deferredWatches.add(this); // the grant is valid without a watch, which only reports a deletion of the key
        }
        return new AttemptResult.Granted(
                entry.createRevision(), entry.session().validity().orElseThrow());
    }

    /** Reports the contender as displaced, which makes the core discard it. Its key ends with the session's lease. */
    private AttemptResult displacedBySessionEnd(EtcdQueueEntry entry) {
        releaseSlot(entry);
        return new AttemptResult.Displaced("the session with " + sessions.endpoints() + " ended");
    }

    private AttemptResult displacedByDeletion(EtcdQueueEntry entry) {
        if (transactions.inDoubt().mayStillExecute()) {
            sessions.cleanUp("a request for lock \"" + request.name() + "\" without an answer", this::end);
        } else {
            releaseSlot(entry);
        }
        return new AttemptResult.Displaced("the key of lock \"" + request.name() + "\" in the queue at "
                + sessions.endpoints() + " was deleted, but not by its owner");
    }

    private synchronized boolean isEnded() {
        return ended;
    }

    private synchronized boolean isKeyDeleted() {
        return keyDeleted;
    }

    private synchronized boolean isRemovalStarted() {
        return removalStarted;
    }

    @Override
    public QueueReplica.ContenderKey contenderKey() {
        EtcdQueueEntry entry = currentEntry();
        return new QueueReplica.ContenderKey(entry.key(), entry.createRevision());
    }

    private EtcdQueueEntry currentEntry() {
        EtcdQueueEntry entry = transactions.entry();
        if (entry == null) {
            throw new IllegalStateException("the contender has no entry in the queue");
        }
        return entry;
    }

    @Override
    public void firstInQueue() {
        listener.wake();
    }

    @Override
    public void deleted() {
        boolean held;
        synchronized (this) {
            keyDeleted = true;
            held = granted;
        }
        if (!held) {
            listener.wake();
            return;
        }
        // The end of a session deletes all its keys at once. Then the session's end is the reason, and not a deletion.
        CompletableFuture<Boolean> checked = new CompletableFuture<>();
        currentEntry().session().checkAlive().whenComplete((exists, failure) -> checked.complete(true));
        clock.schedule(REASON_TIMEOUT, () -> checked.complete(true));
        checked.whenComplete((exists, failure) ->
                listener.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's key was deleted")));
    }

    @Override
    public void registerWatch() {
        EtcdQueueEntry entry = transactions.entry();
        if (entry != null && !entry.session().hasEnded()) {
            entry.queue().watchAsHolder(this);
            if (isEnded()) { // if the contender ended meanwhile, no other call would remove it
                entry.queue().stopWatching(this);
            }
        }
    }

    @Override
    public CompletionStage<Boolean> end() {
        deferredWatches.remove(this);
        transactions.inDoubt().end();
        EtcdQueueEntry entry = transactions.entry();
        boolean startsRemoval;
        synchronized (this) {
            ended = true;
            startsRemoval = entry != null && entry.createRevision() != 0 && !removalStarted && !slotReleased;
            removalStarted |= startsRemoval;
        }
        if (entry == null) {
            return CompletableFuture.completedFuture(false);
        }
        if (startsRemoval) {
            entry.queue().removalStarted();
        }
        entry.queue().sequencer().remove(sequencedAcquire);
        entry.queue().stopWatching(this);
        if (entry.createRevision() == 0 && !transactions.inDoubt().mayHaveExecuted()) {
            releaseSlot(entry);
            return CompletableFuture.completedFuture(false);
        }
        if (entry.session().hasEnded()) {
            return awaitSessionRemoval(entry);
        }
        return removed(
                entry,
                transactions.inDoubt().mayStillExecute()
                        ? removal.withdraw(entry, transactions.inDoubt().latestEpoch())
                        : removal.release(entry));
    }

    /** Keeps the key in the queue until its own lease ends. The session uses other keys from then on. */
    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        deferredWatches.remove(this);
        transactions.inDoubt().end();
        EtcdQueueEntry entry = currentEntry();
        synchronized (this) {
            ended = true;
        }
        entry.queue().stopWatching(this);
        if (entry.session().hasEnded()) {
            return awaitSessionRemoval(entry);
        }
        entry.session().startKeySeries();
        return removed(
                entry,
                removal.moveToOwnLease(entry, delay, transactions.inDoubt().mayStillExecute()));
    }

    private CompletionStage<Boolean> removed(EtcdQueueEntry entry, CompletionStage<Boolean> removed) {
        return removed.handle((existed, failure) -> {
                    if (failure == null) {
                        releaseSlot(entry);
                        return CompletableFuture.completedFuture(existed);
                    }
                    if (EtcdErrors.isLeaseNotFound(failure)) {
                        entry.session().end("its etcd lease no longer exists");
                    }
                    return entry.session().hasEnded()
                            ? awaitSessionRemoval(entry)
                            : CompletableFuture.<Boolean>failedFuture(failure);
                })
                .thenCompose(result -> result);
    }

    private CompletableFuture<Boolean> awaitSessionRemoval(EtcdQueueEntry entry) {
        return sessions.withTimeout("the end of a session", entry.session().removal())
                .thenApply(removed -> {
                    releaseSlot(entry);
                    return false;
                })
                .toCompletableFuture();
    }

    private void releaseSlot(EtcdQueueEntry entry) {
        entry.queue().sequencer().remove(sequencedAcquire);
        entry.queue().stopWatching(this);
        boolean first;
        boolean wasRemovalStarted;
        synchronized (this) {
            first = !slotReleased;
            slotReleased = true;
            wasRemovalStarted = removalStarted;
        }
        if (first) {
            entry.queue().removeContender(entry.slot(), wasRemovalStarted);
        }
    }

    @Override
    public void abandon() {
        EtcdQueueEntry entry = transactions.entry();
        if (entry != null) {
            entry.session().end("one of its keys could not be deleted for a whole lease duration");
        }
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        EtcdQueueEntry entry = transactions.entry();
        return entry != null && entry.createRevision() != 0
                ? unwrapper.unwrap(type, entry.key(), entry.createRevision())
                : Optional.empty();
    }
}
