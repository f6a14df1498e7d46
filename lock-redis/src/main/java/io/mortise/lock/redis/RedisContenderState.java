// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockException;
import io.mortise.lock.redis.RedisContenderEffect.CheckHandOff;
import io.mortise.lock.redis.RedisContenderEffect.Confirm;
import io.mortise.lock.redis.RedisContenderEffect.FailAttempt;
import io.mortise.lock.redis.RedisContenderEffect.FailCleanup;
import io.mortise.lock.redis.RedisContenderEffect.FailEnd;
import io.mortise.lock.redis.RedisContenderEffect.Plain;
import io.mortise.lock.redis.RedisContenderEffect.ReportBusy;
import io.mortise.lock.redis.RedisContenderEffect.ReportEnded;
import io.mortise.lock.redis.RedisContenderEffect.ReportGranted;
import io.mortise.lock.redis.RedisContenderEffect.SendDelayedRelease;
import io.mortise.lock.redis.RedisContenderEffect.SendRemoval;
import io.mortise.lock.redis.RedisContenderEvent.Abandon;
import io.mortise.lock.redis.RedisContenderEvent.AcquireFailed;
import io.mortise.lock.redis.RedisContenderEvent.Attempt;
import io.mortise.lock.redis.RedisContenderEvent.Busy;
import io.mortise.lock.redis.RedisContenderEvent.CleanupDue;
import io.mortise.lock.redis.RedisContenderEvent.Confirmed;
import io.mortise.lock.redis.RedisContenderEvent.DelayFailed;
import io.mortise.lock.redis.RedisContenderEvent.Delayed;
import io.mortise.lock.redis.RedisContenderEvent.End;
import io.mortise.lock.redis.RedisContenderEvent.EndAfter;
import io.mortise.lock.redis.RedisContenderEvent.Expired;
import io.mortise.lock.redis.RedisContenderEvent.Granted;
import io.mortise.lock.redis.RedisContenderEvent.GrantedUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUsable;
import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderEvent.Hint;
import io.mortise.lock.redis.RedisContenderEvent.Late;
import io.mortise.lock.redis.RedisContenderEvent.NotConfirmed;
import io.mortise.lock.redis.RedisContenderEvent.RemovalFailed;
import io.mortise.lock.redis.RedisContenderEvent.Removed;
import io.mortise.lock.redis.RedisContenderEvent.Reply;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.InDoubtRequests;
import io.mortise.lock.spi.support.SerialMachine;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of one contender on Redis: its phase, the requests that may still be executed, and what each event leads to in
 * each phase. Pure; the events bring all times and epochs. See docs/protocols/redis.md.
 *
 * @param inDoubt acquires that had no reply
 */
record RedisContenderState(Phase phase, InDoubtRequests inDoubt) {
    /**
     * The most tries of a late request: the server's clock may have been set forward, and each reply contains its time.
     */
    static final int MOST_TRIES = 3;

    static final RedisContenderState INITIAL = new RedisContenderState(new Idle(), InDoubtRequests.NONE);

    /** The next state, and what to do now. */
    record Step(RedisContenderState state, List<RedisContenderEffect> effects)
            implements SerialMachine.Step<RedisContenderState, RedisContenderEffect> {}

    /**
     * Returns what an event leads to.
     *
     * @throws IllegalStateException if the event is impossible in this state
     */
    static Step on(RedisContenderState state, RedisContenderEvent event) {
        InDoubtRequests inDoubt = state.inDoubt;
        if (event instanceof Reply reply) {
            inDoubt = inDoubt.resolvedBy(reply.epoch(), reply.time().micros());
        } else if (event instanceof AcquireFailed failed && !failed.notExecuted()) {
            inDoubt = inDoubt.lost(failed.epoch(), failed.notAfter().micros());
        }
        Move move = state.phase.on(event, inDoubt.mayStillExecute());
        return new Step(new RedisContenderState(move.next, inDoubt), move.effects);
    }

    /** The next phase, and what to do now. */
    private record Move(Phase next, List<RedisContenderEffect> effects) {}

    private static Move to(Phase next, RedisContenderEffect... effects) {
        return new Move(next, List.of(effects));
    }

    private static Move acquire() {
        return to(new Requesting(MOST_TRIES), Plain.SEND_ACQUIRE);
    }

    private static Move remove(Phase next, boolean inDoubt) {
        return to(next, new SendRemoval(inDoubt));
    }

    /** Ends the contender, because the server has nothing of it. A request in doubt may still change that. */
    private static Move ended(boolean existed, boolean inDoubt) {
        return inDoubt
                ? to(new CleaningUp(), Plain.START_CLEANUP, Plain.UNREGISTER, new ReportEnded(existed))
                : to(new Gone(), Plain.UNREGISTER, new ReportEnded(existed));
    }

    /** Stays in a phase in which the core may be waiting for a wake-up. */
    private static Move hinted(Phase phase, RedisContenderEvent event) {
        return event instanceof Hint ? to(phase, Plain.WAKE_WAITER) : impossible(phase, event);
    }

    /** Stays in a phase in which hints mean nothing. */
    private static Move unhinted(Phase phase, RedisContenderEvent event) {
        return event instanceof Hint ? to(phase) : impossible(phase, event);
    }

    private static Move impossible(Phase phase, RedisContenderEvent event) {
        throw new IllegalStateException(event + " is impossible in " + phase);
    }

    /** A phase of a contender: what it does or waits for. The data of a phase exists only in that phase. */
    sealed interface Phase
            permits Idle,
                    Requesting,
                    Queued,
                    Claiming,
                    Confirming,
                    Undoing,
                    Unsettled,
                    Spoiled,
                    Holding,
                    Releasing,
                    Delaying,
                    CleaningUp,
                    Abandoned,
                    Withdrawing,
                    Gone {
        /**
         * Returns what an event leads to in this phase.
         *
         * @param inDoubt whether an acquire without a reply may still be executed after this event
         */
        Move on(RedisContenderEvent event, boolean inDoubt);
    }

    /** The server has nothing of the attempt, and no acquire is on its way. */
    record Idle() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Attempt) {
                return acquire();
            }
            if (event instanceof End) {
                return ended(false, inDoubt);
            }
            return hinted(this, event);
        }
    }

    /**
     * An acquire is on its way.
     *
     * @param triesLeft the tries that are left if this one comes too late, and this one
     */
    record Requesting(int triesLeft) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Granted granted) {
                return granted.needsConfirmation()
                        ? to(new Confirming(granted.token()), new Confirm(granted.epoch(), granted.sent()))
                        : to(new Holding(granted.token()), new ReportGranted(granted.token(), granted.validUntil()));
            }
            if (event instanceof Busy busy) {
                Phase unqueued = inDoubt ? new Unsettled() : new Idle();
                Phase next = busy.queued() ? new Queued(busy.epoch(), busy.sent(), busy.time(), null) : unqueued;
                return to(next, new ReportBusy(busy.remainingMillis()));
            }
            if (event instanceof GrantedUnusable granted) {
                return remove(new Undoing(granted.why()), inDoubt);
            }
            if (event instanceof Late) {
                return triesLeft > 1
                        ? to(new Requesting(triesLeft - 1), Plain.SEND_ACQUIRE)
                        : to(new Unsettled(), Plain.FAIL_LATE_ATTEMPT);
            }
            if (event instanceof AcquireFailed failed) {
                return to(new Unsettled(), new FailAttempt(failed.cause()));
            }
            return hinted(this, event);
        }
    }

    /**
     * The server has replied "busy" and has an entry of the attempt.
     *
     * @param epoch the epoch of the connection on which the reply came
     * @param sent when the request was sent
     * @param time the server's time in the reply
     * @param handOff a hand-off on the same connection and after the reply; the next attempt may use it
     */
    record Queued(
            int epoch,
            MonotonicInstant sent,
            ServerTime time,
            @Nullable HandedOff handOff) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof HandedOff message) {
                // An earlier message may be about a grant that ended before the reply. On another connection, it may
                // be the time of another server.
                boolean applies = message.epoch() == epoch && !message.time().isBefore(time);
                return to(applies ? new Queued(epoch, sent, time, message) : this, Plain.WAKE_WAITER);
            }
            if (event instanceof Attempt attempt) {
                return handOff != null && attempt.epoch() == epoch
                        ? to(new Claiming(handOff.token()), new CheckHandOff(this, handOff))
                        : acquire();
            }
            if (event instanceof End) {
                return remove(new Releasing(new Unsettled()), inDoubt);
            }
            return hinted(this, event);
        }
    }

    /** A grant was handed off to the attempt; it is being computed until when it is valid. */
    record Claiming(long token) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof HandOffUsable usable) {
                return to(new Holding(token), new ReportGranted(token, usable.validUntil()));
            }
            if (event instanceof HandOffUnusable) {
                return acquire(); // it renews the grant
            }
            return hinted(this, event);
        }
    }

    /** The server has granted the lock; replicas and sentinels are about to confirm that. */
    record Confirming(long token) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Confirmed confirmed) {
                return to(new Holding(token), new ReportGranted(token, confirmed.validUntil()));
            }
            if (event instanceof NotConfirmed not) {
                return remove(new Undoing(not.why()), inDoubt);
            }
            return hinted(this, event);
        }
    }

    /** A grant that does not count is being removed, before the attempt fails. */
    record Undoing(LockException why) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Removed) {
                return to(inDoubt ? new Unsettled() : new Idle(), new FailAttempt(why));
            }
            if (event instanceof RemovalFailed failed) {
                return to(failed.notExecuted() ? new Unsettled() : new Spoiled(), new FailAttempt(why));
            }
            return hinted(this, event);
        }
    }

    /** A request has failed, so the server may have a grant or an entry of the attempt. */
    record Unsettled() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Attempt) {
                return acquire();
            }
            if (event instanceof End) {
                return remove(new Releasing(new Unsettled()), inDoubt);
            }
            if (event instanceof Abandon) {
                return to(new Abandoned(), Plain.AWAIT_EXPIRY);
            }
            return hinted(this, event);
        }
    }

    /** A removal had no reply. It may still be executed and would remove a later grant, so there must be none. */
    record Spoiled() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Attempt) {
                return to(new CleaningUp(), Plain.START_CLEANUP, Plain.UNREGISTER, Plain.REPORT_DISPLACED);
            }
            if (event instanceof End) {
                return remove(new Releasing(new Unsettled()), inDoubt);
            }
            return hinted(this, event);
        }
    }

    /** The core has the grant, or tries again to release it. */
    record Holding(long token) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof End) {
                return remove(new Releasing(this), inDoubt);
            }
            if (event instanceof EndAfter end) {
                return to(new Delaying(this), new SendDelayedRelease(end.delay(), token));
            }
            if (event instanceof Abandon) {
                return to(new Abandoned(), Plain.AWAIT_EXPIRY);
            }
            return unhinted(this, event);
        }
    }

    /**
     * A release or a withdrawal is on its way.
     *
     * @param before the phase to return to if it fails; if the attempt held the lock, only a grant counts as found
     */
    record Releasing(Phase before) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Removed removed) {
                boolean existed = removed.held() || (removed.queued() && !(before instanceof Holding));
                return ended(existed, inDoubt);
            }
            if (event instanceof RemovalFailed failed) {
                return to(before, new FailEnd(failed.cause()));
            }
            return unhinted(this, event);
        }
    }

    /** A delayed release of this grant is on its way. */
    record Delaying(Holding held) implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Delayed delayed) {
                return ended(delayed.kept(), inDoubt); // no late request can find the kept grant
            }
            if (event instanceof DelayFailed failed) {
                return to(held, new FailEnd(failed.cause()));
            }
            return unhinted(this, event);
        }
    }

    /** The contender has ended, and its removal is repeated until no acquire can be executed any more. */
    record CleaningUp() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof CleanupDue) {
                return remove(this, inDoubt);
            }
            if (event instanceof Removed) {
                return inDoubt ? to(this, Plain.REPEAT_CLEANUP) : to(new Gone(), Plain.COMPLETE_CLEANUP);
            }
            if (event instanceof RemovalFailed failed) {
                return to(this, new FailCleanup(failed.cause()));
            }
            if (event instanceof End) {
                return to(this, new ReportEnded(false));
            }
            return event instanceof Expired ? to(this) : unhinted(this, event);
        }
    }

    /** The contender has ended, but its removal failed for too long. Its grant and its entry expire. */
    record Abandoned() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Hint) { // the server is back: serve the next waiter
                return remove(new Withdrawing(), inDoubt);
            }
            return event instanceof Expired ? to(new Gone(), Plain.UNREGISTER) : impossible(this, event);
        }
    }

    /** An abandoned contender is being removed after all. */
    record Withdrawing() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof Removed) {
                return inDoubt
                        ? to(new CleaningUp(), Plain.START_CLEANUP, Plain.UNREGISTER)
                        : to(new Gone(), Plain.UNREGISTER);
            }
            if (event instanceof RemovalFailed) {
                return to(new Abandoned());
            }
            return event instanceof Expired ? to(this, Plain.UNREGISTER) : unhinted(this, event);
        }
    }

    /** The contender has ended. */
    record Gone() implements Phase {
        @Override
        public Move on(RedisContenderEvent event, boolean inDoubt) {
            if (event instanceof End) {
                return to(this, new ReportEnded(false));
            }
            return event instanceof Expired ? to(this) : unhinted(this, event);
        }
    }
}
