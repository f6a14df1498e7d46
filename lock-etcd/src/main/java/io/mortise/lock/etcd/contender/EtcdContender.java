// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.FailAttempt;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.FailEnd;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.GrantLease;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.LeaveQueue;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.NoteDelivery;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.PassTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.Plain;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportEnded;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportGranted;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.RevokeLease;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendGiveWay;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendMove;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendPut;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendWithdrawal;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SetRevision;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Abandon;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.AcquireFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Attempt;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.End;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.EndAfter;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Execution;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.FirstInQueue;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.GrantNotReported;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.InTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Joined;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyDeleted;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.LockTaken;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NoSession;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NotSent;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.RemovalFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.ResultDelivered;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionEnded;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionNotRemoved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionRemoved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.WatchDue;
import io.mortise.lock.etcd.queue.AcquireSequencer;
import io.mortise.lock.etcd.queue.LocalContenderNotifier;
import io.mortise.lock.etcd.queue.QueueReplica;
import io.mortise.lock.etcd.queue.SessionLockQueue;
import io.mortise.lock.etcd.session.EtcdSession;
import io.mortise.lock.etcd.session.EtcdSessionManager;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.support.SerialMachine;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a lock on etcd, represented by a key in the lock's queue. The key is attached to the session's
 * lease. The contender whose key was created first holds the lock, and the revision of that creation is the fencing token.
 * {@link EtcdContenderState} decides what to do: calls, replies and notices are its events, and this class performs its effects.
 * The core does not overlap calls; all else arrives on any thread.
 */
public final class EtcdContender
        implements Contender,
                SessionLockQueue.Contender,
                LocalContenderNotifier.Member,
                AcquireSequencer.Sender,
                LongHoldWatchScheduler.Held {
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
    private final EtcdContenderRequests requests;
    private final SerialMachine<EtcdContenderState, EtcdContenderEvent, EtcdContenderEffect> machine;

    /** The future that the present call of the core has returned. */
    private CompletableFuture<AttemptResult> attempt = new CompletableFuture<>();

    private CompletableFuture<Boolean> end = new CompletableFuture<>();

    /** The contender's entry in the queue of its session; null before it has joined. */
    private volatile @Nullable EtcdQueueEntry entry;

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
        this.machine = new SerialMachine<>(
                EtcdContenderState.initial(request.mayWait()),
                EtcdContenderState::on,
                this::perform,
                EtcdContender::failed);
        this.requests = new EtcdContenderRequests(sessions.requests(), request, this::accept);
    }

    /**
     * Makes one attempt. The core repeats the attempts of a contender that may wait. Any other contender has one attempt,
     * which is retried here as long as time permits.
     */
    @Override
    public CompletionStage<AttemptResult> attempt() {
        return request.mayWait() ? tryOnce() : sessions.requests().retrying(this::tryOnce, listener::isStillWaiting);
    }

    private CompletionStage<AttemptResult> tryOnce() {
        CompletableFuture<AttemptResult> result = new CompletableFuture<>();
        attempt = result;
        accept(new Attempt(epoch()));
        return result;
    }

    @Override
    public CompletionStage<Boolean> end() {
        return end(new End(epoch()));
    }

    /** Keeps the key in the queue until its own lease ends. The session uses other keys from then on. */
    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        return end(new EndAfter(delay, epoch()));
    }

    private CompletionStage<Boolean> end(EtcdContenderEvent call) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        end = result;
        accept(call);
        return result;
    }

    @Override
    public void abandon() {
        machine.accept(new Abandon());
    }

    /** Brings a call or a response. If the session has ended, its notice comes first: it may still be on its way. */
    private void accept(EtcdContenderEvent event) {
        EtcdQueueEntry joined = entry;
        if (joined != null && joined.session().hasEnded()) {
            machine.accept(new SessionEnded());
        }
        machine.accept(event);
    }

    /** Returns the epoch of the session; 0 if there is none. */
    private long epoch() {
        EtcdQueueEntry joined = entry;
        return joined == null ? 0 : joined.session().epoch();
    }

    @Override
    public boolean isStillNeeded() {
        return listener.isStillWaiting();
    }

    @Override
    public void sendNow() {
        machine.accept(new InTurn(epoch()));
    }

    @Override
    public void lockTaken() {
        machine.accept(new LockTaken());
    }

    @Override
    public void notSent() {
        machine.accept(new NotSent());
    }

    @Override
    public QueueReplica.ContenderKey contenderKey() {
        return new QueueReplica.ContenderKey(entry().key(), entry().createRevision());
    }

    @Override
    public void firstInQueue() {
        machine.accept(new FirstInQueue());
    }

    @Override
    public void deleted() {
        machine.accept(new KeyDeleted());
    }

    @Override
    public void registerWatch() {
        machine.accept(new WatchDue());
    }

    @Override
    public void sessionEnded() {
        machine.accept(new SessionEnded());
    }

    /** Returns the event for an effect that could not be performed. A put may have been sent nevertheless. */
    static @Nullable EtcdContenderEvent failed(EtcdContenderEffect effect, Throwable cause) {
        if (effect == Plain.JOIN_QUEUE) {
            return new NoSession(cause);
        } else if (effect == Plain.REQUEST_TURN) {
            return new AcquireFailed(Execution.AT_ANY_TIME, cause); // it may have got its turn nevertheless
        } else if (effect instanceof ReportGranted) {
            return new GrantNotReported(cause);
        } else if (effect == Plain.START_CLEANUP) {
            return new Abandon(); // nothing else would rule out the put in doubt
        } else if (effect instanceof SendPut
                || effect instanceof SendGiveWay
                || effect == Plain.SEND_READ
                || effect == Plain.SEND_CHECK) {
            return new AcquireFailed(Execution.AT_ANY_TIME, cause);
        } else if (effect == Plain.SEND_DELETION
                || effect == Plain.SEND_DELETION_IF_OWN
                || effect instanceof SendWithdrawal
                || effect instanceof GrantLease
                || effect instanceof SendMove) {
            return new RemovalFailed(cause);
        } else if (effect == Plain.AWAIT_SESSION_REMOVAL) {
            return new SessionNotRemoved(cause);
        }
        return null;
    }

    private void perform(EtcdContenderEffect effect) {
        if (effect instanceof Plain plain) {
            perform(plain);
        } else if (effect instanceof SendPut send) {
            requests.put(entry(), send.epoch());
        } else if (effect instanceof SetRevision set) {
            entry = entry().withCreateRevision(set.revision());
        } else if (effect instanceof SendGiveWay send) {
            requests.giveWay(entry(), send.ahead());
        } else if (effect instanceof NoteDelivery note) {
            machine.afterwards(() -> machine.accept(new ResultDelivered(note.position())));
        } else if (effect instanceof PassTurn pass) {
            machine.afterwards(() -> passTurn(pass));
        } else if (effect instanceof SendWithdrawal send) {
            requests.withdraw(entry(), send.newEpoch());
        } else if (effect instanceof GrantLease grant) {
            requests.grantLease(entry(), grant.delay());
        } else if (effect instanceof SendMove send) {
            requests.move(entry(), send.leaseId(), send.newEpoch());
        } else if (effect instanceof RevokeLease revoke) {
            requests.revoke(revoke.leaseId());
        } else if (effect instanceof LeaveQueue leave) {
            queue().removeContender(this, entry().slot(), leave.removalCounted());
        } else if (effect instanceof ReportGranted granted) {
            machine.complete(
                    attempt,
                    new AttemptResult.Granted(
                            granted.token(), entry().session().validity().orElseThrow()));
        } else if (effect instanceof FailAttempt failure) {
            machine.fail(attempt, failure.failure());
        } else if (effect instanceof ReportEnded ended) {
            machine.complete(end, ended.existed());
        } else if (effect instanceof FailEnd failure) {
            machine.fail(end, failure.failure());
        }
    }

    private void perform(Plain effect) {
        switch (effect) {
            case JOIN_QUEUE -> joinQueue();
            case REQUEST_TURN -> {
                if (queue().sequencer().maySend(this)) {
                    sendNow();
                }
            }
            case RELEASE_TURNS -> machine.afterwards(queue().sequencer()::releaseAll);
            case CHANGE_SLOT -> entry = entry().withSlot(queue().addSlot());
            case SEND_READ -> requests.read(entry());
            case SEND_CHECK -> requests.check(entry());
            case WATCH_AS_WAITER -> queue().watchAsWaiter(this);
            case WATCH_AS_HOLDER_LATER -> {
                if (!queue().becameHolder(this)) {
                    deferredWatches.add(this); // the grant is valid without a watch, which only reports a deletion
                }
            }
            case WATCH_AS_HOLDER -> queue().watchAsHolder(this);
            case UNSUBSCRIBE -> {
                deferredWatches.remove(this);
                queue().stopWatching(this);
                machine.afterwards(() -> queue().sequencer().remove(this));
            }
            case COUNT_REMOVAL -> queue().removalStarted();
            case START_KEY_SERIES -> entry().session().startKeySeries();
            case SEND_DELETION -> requests.delete(entry());
            case SEND_DELETION_IF_OWN -> requests.deleteIfOwn(entry());
            case AWAIT_SESSION_REMOVAL ->
                sessions.withTimeout("the end of a session", entry().session().removal())
                        .whenComplete((removed, failure) -> machine.accept(
                                failure == null ? new SessionRemoved() : new SessionNotRemoved(failure)));
            case START_CLEANUP ->
                sessions.cleanUp(
                        "a request for lock \"" + request.name() + "\" without an answer", this::end, this::abandon);
            case END_SESSION ->
                entry().session().end("one of its keys could not be deleted for a whole lease duration");
            case WAKE_WAITER -> machine.afterwards(listener::wake);
            case REPORT_LOSS -> reportLoss();
            case REPORT_WAITING -> machine.complete(attempt, WAITING);
            case REPORT_KEY_DELETED ->
                displaced("the key of lock \"" + request.name() + "\" in the queue at " + sessions.endpoints()
                        + " was deleted, but not by its owner");
            case REPORT_SESSION_ENDED -> displaced("the session with " + sessions.endpoints() + " ended");
            case FAIL_RESTLESS ->
                failAttempt(
                        requests.acquireDescription() + ": the queue changed too often during the request; try again");
            case FAIL_NOT_SENT ->
                failAttempt("not sent: no caller needs the lock any more, and the store does not respond");
        }
    }

    private void joinQueue() {
        EtcdSession session = sessions.current();
        session.ready()
                .whenComplete((validity, failure) ->
                        machine.accept(failure == null ? joined(session) : new NoSession(failure)));
    }

    private EtcdContenderEvent joined(EtcdSession session) {
        try {
            EtcdSession.Slot slot = session.joinQueue(request.name(), this);
            entry = EtcdQueueEntry.withoutKey(session, slot.queue(), slot.slot());
            return new Joined(session.epoch());
        } catch (RuntimeException | Error e) {
            return new NoSession(e);
        }
    }

    private void passTurn(PassTurn pass) {
        boolean isTaken = pass.position().isFirst()
                ? !pass.isLeaving()
                : queue().isTaken(pass.position().contenders(), pass.isLeaving());
        queue().sequencer().onReply(this, isTaken);
    }

    /** The end of a session deletes all its keys at once. Then the session's end is the reason, and not a deletion. */
    private void reportLoss() {
        CompletableFuture<Boolean> checked = new CompletableFuture<>();
        entry().session().checkAlive().whenComplete((exists, failure) -> checked.complete(true));
        clock.schedule(REASON_TIMEOUT, () -> checked.complete(true));
        checked.whenComplete((exists, failure) ->
                listener.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's key was deleted")));
    }

    private void displaced(String why) {
        machine.complete(attempt, new AttemptResult.Displaced(why));
    }

    private void failAttempt(String message) {
        machine.fail(attempt, new BackendUnavailableException(message));
    }

    private EtcdQueueEntry entry() {
        return Objects.requireNonNull(entry);
    }

    private SessionLockQueue queue() {
        return entry().queue();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        EtcdQueueEntry joined = entry;
        return joined != null && joined.createRevision() != 0
                ? unwrapper.unwrap(type, joined.key(), joined.createRevision())
                : Optional.empty();
    }
}
