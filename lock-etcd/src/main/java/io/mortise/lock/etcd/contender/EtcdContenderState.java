// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

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
import io.mortise.lock.etcd.contender.EtcdContenderEvent.GaveWay;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.GrantNotReported;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.InTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Joined;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyDeleted;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyGone;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyNotPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.LeaseGranted;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.LockTaken;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Moved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NoKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NoSession;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NotSent;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Notice;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.OtherKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.OwnKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Position;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.PositionRead;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.RemovalFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Removed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Response;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.ResultDelivered;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionEnded;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionNotRemoved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionRemoved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.WatchDue;
import io.mortise.lock.spi.support.InDoubtRequests;
import io.mortise.lock.spi.support.SerialMachine;
import java.util.ArrayList;
import java.util.List;

/**
 * The protocol of one contender on etcd: its phase, the requests that may still be executed, and what each event leads to in each
 * phase. Pure; the events bring the epochs of the session. See docs/protocols/etcd.md.
 *
 * @param mayWait whether the contender stays queued if it is not the first. Then its puts need a turn
 * @param inDoubt puts that had no reply. Nothing but a new epoch rules out that one is executed
 * @param mayHaveKey whether the store may have executed a put that it reported as failed
 */
record EtcdContenderState(boolean mayWait, Phase phase, InDoubtRequests inDoubt, boolean mayHaveKey) {
    /** The most times that an attempt repeats a request because other requests have changed the queue meanwhile. */
    static final int MOST_ROUNDS = 20;

    static EtcdContenderState initial(boolean mayWait) {
        return new EtcdContenderState(mayWait, new Idle(), InDoubtRequests.NONE, false);
    }

    /** The next state, and what to do now. */
    record Step(EtcdContenderState state, List<EtcdContenderEffect> effects)
            implements SerialMachine.Step<EtcdContenderState, EtcdContenderEffect> {}

    /**
     * Returns what an event leads to.
     *
     * @throws IllegalStateException if the event is impossible in this state
     */
    static Step on(EtcdContenderState state, EtcdContenderEvent event) {
        EtcdContenderState known = event instanceof AcquireFailed failed && state.phase instanceof Putting putting
                ? state.afterFailedPut(failed.execution(), putting.epoch)
                : state;
        Move move = known.move(event);
        return new Step(known.with(move.next), move.effects);
    }

    private Move move(EtcdContenderEvent event) {
        if (event instanceof Abandon) {
            return to(phase, Plain.END_SESSION);
        }
        if (event instanceof ResultDelivered delivered) {
            return to(phase, new PassTurn(delivered.position(), isLeaving()));
        }
        if (event instanceof GrantNotReported not) {
            return grantNotReported(not);
        }
        return phase.on(event, this);
    }

    /** The next attempt checks the key again, unless the grant is lost already. */
    private Move grantNotReported(GrantNotReported event) {
        FailAttempt failure = new FailAttempt(event.failure());
        if (phase instanceof Holding holding) {
            return to(new Queued(holding.revision), failure);
        }
        boolean isLost = phase instanceof Deleted || phase instanceof SessionOver;
        return isLost ? to(phase, failure) : impossible(phase, event);
    }

    /** Returns whether the contender is about to leave the lock to others, or did. A delayed release keeps it taken. */
    private boolean isLeaving() {
        boolean keepsLock = phase instanceof LeasingDelay || phase instanceof Moving;
        return phase instanceof Gone || (phase instanceof Ending && !keepsLock);
    }

    private EtcdContenderState afterFailedPut(Execution execution, long epoch) {
        return switch (execution) {
            case NEVER -> this;
            case DONE_OR_NEVER -> new EtcdContenderState(mayWait, phase, inDoubt, true);
            case AT_ANY_TIME -> new EtcdContenderState(mayWait, phase, inDoubt.lost(epoch, Long.MAX_VALUE), mayHaveKey);
        };
    }

    private EtcdContenderState with(Phase next) {
        return new EtcdContenderState(mayWait, next, inDoubt, mayHaveKey);
    }

    /** Returns whether the store may have a key of the contender, or may get one, although none is known. */
    private boolean isInDoubt() {
        return mayHaveKey || inDoubt.mayStillExecute();
    }

    /** The next phase, and what to do now. */
    private record Move(Phase next, List<EtcdContenderEffect> effects) {}

    private static Move to(Phase next, EtcdContenderEffect... effects) {
        return new Move(next, List.of(effects));
    }

    private static Move impossible(Phase phase, EtcdContenderEvent event) {
        throw new IllegalStateException(event + " is impossible in " + phase);
    }

    /** Stays in a phase in which notices mean nothing. */
    private static Move unnoticed(Phase phase, EtcdContenderEvent event) {
        return event instanceof Notice ? to(phase) : impossible(phase, event);
    }

    /** Stays in a phase in which notices, and responses that come late, mean nothing. */
    private static Move late(Phase phase, EtcdContenderEvent event) {
        return event instanceof Response ? to(phase) : unnoticed(phase, event);
    }

    private Move put(long epoch, int rounds) {
        return to(new Putting(epoch, rounds), new SendPut(epoch));
    }

    /** Starts the acquire of a contender without a known key. Contenders that wait send it in the order of their calls (S12). */
    private Move acquire(long epoch) {
        return mayWait ? to(new AwaitingTurn(), Plain.REQUEST_TURN) : put(epoch, MOST_ROUNDS);
    }

    /**
     * Continues with the position of the contender's key.
     *
     * <p>A contender that does not wait deletes its key before it reports "busy", unless the contender ahead has left by then.
     * Otherwise clients that retry such acquires in a loop would find each other's keys, and no client would get the lock.
     */
    private Move positioned(long revision, Position position, int rounds) {
        boolean hasTurn = mayWait && !(phase instanceof Confirming);
        List<EtcdContenderEffect> effects = new ArrayList<>(4);
        effects.add(new SetRevision(revision));
        Phase next = new Queued(revision);
        if (position.isFirst()) {
            next = new Holding(revision);
            effects.add(Plain.WATCH_AS_HOLDER_LATER);
            effects.add(new ReportGranted(revision));
        } else if (mayWait) {
            effects.add(Plain.WATCH_AS_WAITER);
            effects.add(Plain.REPORT_WAITING);
        } else if (position.ahead() != null && rounds > 0) {
            next = new GivingWay(revision, rounds - 1);
            effects.add(new SendGiveWay(position.ahead()));
        } else {
            effects.add(Plain.REPORT_WAITING); // a key that remains is deleted with the contender
        }
        if (hasTurn) {
            effects.add(new NoteDelivery(position));
        }
        return new Move(next, effects);
    }

    /** Fails an attempt that may have had the turn. */
    private Move failed(Phase next, EtcdContenderEffect failure) {
        return mayWait ? to(next, failure, Plain.RELEASE_TURNS) : to(next, failure);
    }

    /** Completes an attempt whose key another client has deleted. The core discards the contender. */
    private Move displaced() {
        return inDoubt.mayStillExecute()
                ? to(new Deleted(), Plain.START_CLEANUP, Plain.REPORT_KEY_DELETED)
                : to(new Gone(), Plain.UNSUBSCRIBE, new LeaveQueue(false), Plain.REPORT_KEY_DELETED);
    }

    /**
     * Removes a contender.
     *
     * @param revision the revision of the key; 0 if none is known
     * @param wasCounted whether an earlier removal had no success. Its deletion may still be executed
     */
    private Move remove(long revision, boolean wasCounted, long epoch) {
        if (revision == 0 && !isInDoubt()) {
            return to(new Gone(), Plain.UNSUBSCRIBE, new LeaveQueue(wasCounted), new ReportEnded(false));
        }
        List<EtcdContenderEffect> effects = new ArrayList<>(4);
        if (revision != 0 && !wasCounted) {
            effects.add(Plain.COUNT_REMOVAL);
        }
        effects.add(Plain.UNSUBSCRIBE);
        if (inDoubt.mayStillExecute()) {
            effects.add(new SendWithdrawal(inDoubt.highestEpoch() >= epoch));
        } else if (revision == 0) {
            effects.add(Plain.SEND_DELETION_IF_OWN);
        } else {
            if (wasCounted) {
                effects.add(Plain.START_KEY_SERIES);
            }
            effects.add(Plain.SEND_DELETION);
        }
        return new Move(new Removing(revision, wasCounted || revision != 0), effects);
    }

    private static Move moveToOwnLease(long revision, boolean wasCounted, EndAfter end) {
        return to(
                new LeasingDelay(revision, wasCounted),
                Plain.UNSUBSCRIBE,
                Plain.START_KEY_SERIES,
                new GrantLease(end.delay()));
    }

    /** Ends the contender, which has no key of the session any more. */
    private static Move ended(boolean existed, boolean wasCounted) {
        return to(new Gone(), new LeaveQueue(wasCounted), new ReportEnded(existed));
    }

    private static Move awaitSessionRemoval() {
        return to(new AwaitingSessionRemoval(), Plain.UNSUBSCRIBE, Plain.AWAIT_SESSION_REMOVAL);
    }

    /** A phase of a contender: what it does or waits for. The data of a phase exists only in that phase. */
    sealed interface Phase {
        /**
         * Returns what an event leads to in this phase.
         *
         * @param known the state, with what the event tells of the requests in doubt
         */
        Move on(EtcdContenderEvent event, EtcdContenderState known);
    }

    /** The contender has not joined the queue of a session. */
    record Idle() implements Phase {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Attempt) {
                return to(new Joining(), Plain.JOIN_QUEUE);
            }
            return event instanceof End ? to(new Gone(), new ReportEnded(false)) : unnoticed(this, event);
        }
    }

    /** An attempt that is in progress. The core does not end a contender meanwhile. */
    sealed interface Attempting extends Phase {
        /** Returns whether the store may have the contender's key, or may get it. */
        default boolean mayHaveKey() {
            return this instanceof Putting || this instanceof WithKey;
        }

        default Move onNotice(EtcdContenderEvent event, EtcdContenderState known) {
            return event instanceof SessionEnded
                    ? to(new SessionOver(mayHaveKey() || known.isInDoubt()), Plain.REPORT_SESSION_ENDED)
                    : unnoticed(this, event);
        }
    }

    /** The client's session is not open yet. */
    record Joining() implements Attempting {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Joined joined) {
                return known.acquire(joined.epoch());
            }
            return event instanceof NoSession none
                    ? to(new Idle(), new FailAttempt(none.failure()))
                    : onNotice(event, known);
        }
    }

    /** The acquire is sent after those of the client that were requested before. */
    record AwaitingTurn() implements Attempting {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof InTurn turn) {
                return known.put(turn.epoch(), MOST_ROUNDS);
            }
            if (event instanceof LockTaken) {
                return to(new Unqueued(), Plain.REPORT_WAITING);
            }
            if (event instanceof AcquireFailed failed) {
                return known.failed(new Unqueued(), new FailAttempt(failed.failure()));
            }
            return event instanceof NotSent ? to(new Unqueued(), Plain.FAIL_NOT_SENT) : onNotice(event, known);
        }
    }

    /**
     * A transaction is on its way that puts the key.
     *
     * @param epoch the epoch of the session in which alone it is executed
     * @param rounds how many times the attempt may still send it, and this one
     */
    record Putting(long epoch, int rounds) implements Attempting {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof KeyPut put) {
                return known.positioned(put.revision(), put.position(), rounds);
            }
            if (event instanceof KeyNotPut) {
                return to(new Reading(rounds), Plain.SEND_READ);
            }
            return event instanceof AcquireFailed failed
                    ? known.failed(new Unqueued(), new FailAttempt(failed.failure()))
                    : onNotice(event, known);
        }
    }

    /** The key was not put; a read is on its way that shows why. */
    record Reading(int rounds) implements Attempting {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof OwnKeyFound own) {
                return known.positioned(own.revision(), own.position(), rounds);
            }
            if (event instanceof NoKeyFound none) {
                return again(none.epoch(), known);
            }
            if (event instanceof OtherKeyFound other) {
                Move again = again(other.epoch(), known);
                List<EtcdContenderEffect> effects = new ArrayList<>(List.of(Plain.CHANGE_SLOT));
                effects.addAll(again.effects);
                return new Move(again.next, effects);
            }
            return event instanceof AcquireFailed failed
                    ? known.failed(new Unqueued(), new FailAttempt(failed.failure()))
                    : onNotice(event, known);
        }

        private Move again(long epoch, EtcdContenderState known) {
            return rounds > 1 ? known.put(epoch, rounds - 1) : known.failed(new Unqueued(), Plain.FAIL_RESTLESS);
        }
    }

    /** The contender has joined the queue of its session, and no key of it is known. It may be waiting for a turn. */
    record Unqueued() implements Phase {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Attempt attempt) {
                return known.acquire(attempt.epoch());
            }
            if (event instanceof InTurn) {
                return to(this, Plain.WAKE_WAITER);
            }
            if (event instanceof End end) {
                return known.remove(0, false, end.epoch());
            }
            return event instanceof SessionEnded
                    ? to(new SessionOver(known.isInDoubt()), Plain.WAKE_WAITER)
                    : unnoticed(this, event);
        }
    }

    /** The contender's key was in the queue. */
    sealed interface WithKey extends Phase {
        long revision();
    }

    /** A queued contender checks whether it is the first now. */
    record Confirming(long revision) implements Attempting, WithKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof PositionRead read) {
                return known.positioned(revision, read.position(), MOST_ROUNDS);
            }
            if (event instanceof KeyGone || event instanceof KeyDeleted) {
                return known.displaced();
            }
            if (event instanceof FirstInQueue) {
                return to(this, Plain.WAKE_WAITER); // the reply may be older
            }
            return event instanceof AcquireFailed failed
                    ? to(new Queued(revision), new FailAttempt(failed.failure()))
                    : onNotice(event, known);
        }
    }

    /** A contender that does not wait deletes its key, if another is still ahead. */
    record GivingWay(long revision, int rounds) implements Attempting, WithKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof GaveWay) {
                return to(new Unqueued(), new SetRevision(0), Plain.REPORT_WAITING);
            }
            if (event instanceof PositionRead read) {
                return known.positioned(revision, read.position(), rounds);
            }
            if (event instanceof KeyGone) {
                return known.displaced();
            }
            return event instanceof AcquireFailed failed
                    ? to(new Queued(revision), new FailAttempt(failed.failure()))
                    : onNotice(event, known);
        }
    }

    /** The contender waits in the queue for others to leave it. */
    record Queued(long revision) implements WithKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Attempt) {
                return to(new Confirming(revision), Plain.SEND_CHECK);
            }
            if (event instanceof FirstInQueue) {
                return to(this, Plain.WAKE_WAITER);
            }
            if (event instanceof KeyDeleted) {
                return to(new Deleted(), Plain.WAKE_WAITER);
            }
            if (event instanceof End end) {
                return known.remove(revision, false, end.epoch());
            }
            return event instanceof SessionEnded
                    ? to(new SessionOver(true), Plain.WAKE_WAITER)
                    : unnoticed(this, event);
        }
    }

    /** The lock is granted. */
    record Holding(long revision) implements WithKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof End end) {
                return known.remove(revision, false, end.epoch());
            }
            if (event instanceof EndAfter end) {
                return moveToOwnLease(revision, false, end);
            }
            if (event instanceof KeyDeleted) {
                return to(new Deleted(), Plain.REPORT_LOSS);
            }
            if (event instanceof WatchDue) {
                return to(this, Plain.WATCH_AS_HOLDER);
            }
            return event instanceof SessionEnded ? to(new SessionOver(true)) : unnoticed(this, event);
        }
    }

    /** Another client has deleted the contender's key. A put in doubt may put it again. */
    record Deleted() implements Phase {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Attempt) {
                return known.displaced();
            }
            if (event instanceof End end) {
                return known.remove(0, false, end.epoch());
            }
            if (event instanceof EndAfter end) {
                return known.remove(0, false, end.epoch());
            }
            return event instanceof SessionEnded
                    ? to(new SessionOver(known.isInDoubt()), Plain.WAKE_WAITER)
                    : late(this, event);
        }
    }

    /** The session has ended before the contender. */
    record SessionOver(boolean mayHaveKey) implements Phase {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Attempt) {
                return to(this, Plain.REPORT_SESSION_ENDED);
            }
            if (event instanceof End || event instanceof EndAfter) {
                return mayHaveKey
                        ? awaitSessionRemoval()
                        : to(new Gone(), Plain.UNSUBSCRIBE, new LeaveQueue(false), new ReportEnded(false));
            }
            return late(this, event);
        }
    }

    /** The contender has ended, and the store may still have its key, or may get it. */
    sealed interface Ending extends Phase {}

    /** The contender is being removed, and its session has not ended. */
    sealed interface RemovingKey extends Ending {
        long revision();

        boolean wasCounted();

        default Move onOther(EtcdContenderEvent event) {
            if (event instanceof RemovalFailed failed) {
                return to(new Unremoved(revision(), wasCounted()), new FailEnd(failed.failure()));
            }
            return event instanceof SessionEnded ? awaitSessionRemoval() : late(this, event);
        }
    }

    /**
     * A request is on its way that deletes the key.
     *
     * @param revision the revision of the key; 0 if none is known
     * @param wasCounted whether the client's queue counts the contender as one that is being removed
     */
    record Removing(long revision, boolean wasCounted) implements RemovingKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            return event instanceof Removed removed ? ended(removed.existed(), wasCounted) : onOther(event);
        }
    }

    /** A lease is requested for the delay of a release. */
    record LeasingDelay(long revision, boolean wasCounted) implements RemovingKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            return event instanceof LeaseGranted lease
                    ? to(
                            new Moving(revision, wasCounted, lease.leaseId()),
                            new SendMove(lease.leaseId(), known.inDoubt.mayStillExecute()))
                    : onOther(event);
        }
    }

    /** The key is being moved to the lease of the delay. The session's other contenders use other keys from then on. */
    record Moving(long revision, boolean wasCounted, long leaseId) implements RemovingKey {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            return event instanceof Moved moved
                    ? moved.existed() ? ended(true, wasCounted) : nothingToMove(known)
                    : onOther(event);
        }

        /** Without the key, the transaction has not started a new epoch either. */
        private Move nothingToMove(EtcdContenderState known) {
            return known.inDoubt.mayStillExecute()
                    ? to(new Removing(0, wasCounted), new RevokeLease(leaseId), new SendWithdrawal(true))
                    : to(new Gone(), new RevokeLease(leaseId), new LeaveQueue(wasCounted), new ReportEnded(false));
        }
    }

    /** A request for the removal has failed, and may still be executed. */
    record Unremoved(long revision, boolean wasCounted) implements Ending {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof End end) {
                return known.remove(revision, wasCounted, end.epoch());
            }
            if (event instanceof EndAfter end) {
                return revision == 0
                        ? known.remove(0, wasCounted, end.epoch())
                        : moveToOwnLease(revision, wasCounted, end);
            }
            return event instanceof SessionEnded ? to(new SessionOver(true)) : late(this, event);
        }
    }

    /**
     * The store is about to delete the session, with the contender's key. A request that was sent before may have removed the
     * contender, as its reply then shows.
     */
    record AwaitingSessionRemoval() implements Ending {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            if (event instanceof Removed removed) {
                return ended(removed.existed(), false);
            }
            if (event instanceof Moved moved && moved.existed()) {
                return ended(true, false);
            }
            if (event instanceof SessionRemoved) {
                return ended(false, false);
            }
            return event instanceof SessionNotRemoved not
                    ? to(new SessionOver(true), new FailEnd(not.failure()))
                    : late(this, event);
        }
    }

    /** The contender has ended. */
    record Gone() implements Phase {
        @Override
        public Move on(EtcdContenderEvent event, EtcdContenderState known) {
            return event instanceof End || event instanceof EndAfter
                    ? to(this, new ReportEnded(false))
                    : late(this, event);
        }
    }
}
