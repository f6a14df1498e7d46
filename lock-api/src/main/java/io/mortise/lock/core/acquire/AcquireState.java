// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.core.acquire.AcquireEffect.Attempt;
import io.mortise.lock.core.acquire.AcquireEffect.End;
import io.mortise.lock.core.acquire.AcquireEffect.FailedForGood;
import io.mortise.lock.core.acquire.AcquireEffect.PlainEnd;
import io.mortise.lock.core.acquire.AcquireEffect.RecordFailure;
import io.mortise.lock.core.acquire.AcquireEffect.Remove;
import io.mortise.lock.core.acquire.AcquireEffect.Unavailable;
import io.mortise.lock.core.acquire.AcquireEvent.Busy;
import io.mortise.lock.core.acquire.AcquireEvent.DeadlineReached;
import io.mortise.lock.core.acquire.AcquireEvent.Displaced;
import io.mortise.lock.core.acquire.AcquireEvent.Failed;
import io.mortise.lock.core.acquire.AcquireEvent.FirstInQueue;
import io.mortise.lock.core.acquire.AcquireEvent.GrantEnded;
import io.mortise.lock.core.acquire.AcquireEvent.Hint;
import io.mortise.lock.core.acquire.AcquireEvent.JoinedAsFirst;
import io.mortise.lock.core.acquire.AcquireEvent.LockFreed;
import io.mortise.lock.core.acquire.AcquireEvent.Plain;
import io.mortise.lock.core.acquire.AcquireEvent.RetryDue;
import io.mortise.lock.core.acquire.AcquireEvent.StoreSilent;
import io.mortise.lock.core.acquire.AcquireEvent.TimerFailed;
import io.mortise.lock.core.acquire.AcquireEvent.Unanswered;
import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state of one acquire operation, and what each event leads to in each phase. Pure; the events bring all instants.
 * See docs/protocols/core.md.
 *
 * @param contender the number of the present contender, counted from 1; a contender that was displaced is replaced by the next
 * @param selfWaitAt when to warn of a process that waits for itself; null before the first "busy"
 */
record AcquireState(
        WaitPolicy policy,
        Phase phase,
        int contender,
        AttemptHistory history,
        @Nullable MonotonicInstant selfWaitAt) {
    private static final String GRANT_ENDED = "the grant had ended before its reply arrived";

    private static final List<AcquireEffect> NOTHING = List.of();
    private static final List<AcquireEffect> FIRST_ATTEMPT = List.of(Attempt.FIRST);
    private static final List<AcquireEffect> DELIVERY = List.of(AcquireEffect.Plain.DELIVER);

    /** The next state, and what to do now, in this order. */
    record Step(AcquireState state, List<AcquireEffect> effects) {
        /** Returns whether the event has decided the outcome. */
        boolean decides() {
            for (AcquireEffect effect : effects) {
                if (effect == AcquireEffect.Plain.DELIVER || effect instanceof End) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Returns the state before the start. */
    static AcquireState initial(WaitPolicy policy) {
        return new AcquireState(policy, PlainPhase.NEW, 1, AttemptHistory.NONE, null);
    }

    /**
     * Returns what an event leads to.
     *
     * @throws IllegalStateException if the event is impossible in this phase
     */
    static Step on(AcquireState state, AcquireEvent event) {
        if (state.isOpen()) {
            if (event == Plain.WITHDRAW) {
                return state.end(PlainEnd.WITHDRAWN);
            }
            if (event == Plain.CLOSE) {
                return state.end(PlainEnd.CLOSED);
            }
            if (event instanceof DeadlineReached deadline) {
                return state.end(state.atDeadline(deadline));
            }
            if (event instanceof TimerFailed failed) {
                return state.end(new FailedForGood(failed.cause()));
            }
        }
        return state.phase.on(state, event);
    }

    /** Returns whether the outcome is not decided. */
    boolean isOpen() {
        return phase != PlainPhase.ENDED && !(phase instanceof Ending);
    }

    /** Returns when the next attempt is due if there is no hint before; null if none is. */
    @Nullable
    MonotonicInstant retryAt() {
        return phase instanceof Pause pause ? pause.until() : null;
    }

    // ---- phases

    /** A phase of an operation: an action or a wait. The data of a phase exists only in that phase. */
    sealed interface Phase {
        Step on(AcquireState state, AcquireEvent event);
    }

    /** The phases without data. */
    enum PlainPhase implements Phase {
        /** The operation has not started. */
        NEW {
            @Override
            public Step on(AcquireState state, AcquireEvent event) {
                if (event == Plain.START) {
                    return state.attempt(state.policy.started(), NOTHING);
                }
                if (event == Plain.START_IN_QUEUE) {
                    return state.to(JOINING, AcquireEffect.Plain.JOIN_QUEUE);
                }
                return state.impossible(event);
            }
        },

        /** The operation is joining the local queue. */
        JOINING {
            @Override
            public Step on(AcquireState state, AcquireEvent event) {
                if (event instanceof JoinedAsFirst joined) {
                    return state.attempt(joined.now(), NOTHING);
                }
                if (event == Plain.JOINED_BEHIND_OTHERS) {
                    return state.to(QUEUED, AcquireEffect.Plain.NOTIFY_WAITING);
                }
                return QUEUED.on(state, event);
            }
        },

        /** The operation waits in the local queue behind others, and makes no requests. */
        QUEUED {
            @Override
            public Step on(AcquireState state, AcquireEvent event) {
                if (event instanceof FirstInQueue first) {
                    return first.storeSilent() && state.policy.waitedThroughOutage(first.now(), first.contact())
                            ? state.end(state.unavailable(first.now(), first.contact()))
                            : state.attempt(first.now(), NOTHING);
                }
                if (event instanceof StoreSilent silent) { // the first one may go on: its wait may have another limit
                    return state.policy.waitedThroughOutage(silent.now(), silent.contact())
                            ? state.end(state.unavailable(silent.now(), silent.contact()))
                            : state.stay();
                }
                return event instanceof LockFreed ? state.stay() : state.impossible(event); // it is about to be first
            }
        },

        /** The outcome is decided, and there is no contender of this operation any more. */
        ENDED {
            @Override
            public Step on(AcquireState state, AcquireEvent event) {
                if (event instanceof JoinedAsFirst || event == Plain.JOINED_BEHIND_OTHERS) {
                    return state.to(this, AcquireEffect.Plain.LEAVE_QUEUE);
                }
                boolean isResult = event == Plain.GRANTED
                        || event == Plain.NOT_SENT
                        || event instanceof Busy
                        || event instanceof Unanswered;
                return isResult ? state.impossible(event) : state.stay();
            }
        }
    }

    /**
     * An attempt has no result yet.
     *
     * @param sent when it was sent
     * @param woken whether a hint arrived meanwhile, so that the next attempt follows at once
     */
    record Attempting(MonotonicInstant sent, boolean woken) implements Phase {
        @Override
        public Step on(AcquireState state, AcquireEvent event) {
            if (event == Plain.GRANTED) {
                return new Step(state.in(PlainPhase.ENDED), DELIVERY);
            }
            if (event instanceof Busy busy) {
                return state.afterBusy(busy, woken);
            }
            if (event instanceof Failed failed) {
                AcquireState next = state.with(state.history.afterFailure(failed.cause()));
                return failed.cause() instanceof BackendUnavailableException
                        ? next.afterFailure(failed, sent, woken, NOTHING)
                        : next.endIdle(new FailedForGood(failed.cause()), NOTHING);
            }
            if (event instanceof Displaced displaced) {
                return state.afterDisplaced(displaced, displaced.why(), sent, NOTHING);
            }
            if (event instanceof GrantEnded ended) {
                return state.afterDisplaced(ended, GRANT_ENDED, sent, List.of(AcquireEffect.Plain.DISCARD));
            }
            if (state.isHint(event)) {
                return woken ? state.stay() : state.to(new Attempting(sent, true));
            }
            boolean isStale = event instanceof Hint || event instanceof RetryDue || isForQueued(event);
            return isStale ? state.stay() : state.impossible(event);
        }
    }

    /** A pause before the next attempt, which a hint ends. */
    sealed interface Pause extends Phase {
        MonotonicInstant until();

        @Override
        default Step on(AcquireState state, AcquireEvent event) {
            if (event instanceof RetryDue due) {
                return state.attempt(due.now(), NOTHING);
            }
            if (event instanceof Hint hint) {
                return state.isHint(hint) ? state.attempt(hint.now(), NOTHING) : state.stay();
            }
            if (event instanceof LockFreed freed) {
                return state.attempt(freed.now(), NOTHING);
            }
            return isForQueued(event) ? state.stay() : state.impossible(event);
        }
    }

    /** Another contender holds the lock. A hint is expected; the next attempt is made at the fallback time at the latest. */
    record Waiting(MonotonicInstant until) implements Pause {}

    /**
     * The latest attempt failed.
     *
     * @param discards whether a grant of this operation is being removed. That the lock is free then shows nothing new, so it does
     *     not end the pause: otherwise a store whose grants end at once would be asked in a loop
     */
    record BackingOff(MonotonicInstant until, boolean discards) implements Pause {
        @Override
        public Step on(AcquireState state, AcquireEvent event) {
            return discards && event instanceof LockFreed ? state.stay() : Pause.super.on(state, event);
        }
    }

    /**
     * The outcome is decided, but the pending attempt has no result yet.
     *
     * @param sent when it was sent
     */
    record Ending(MonotonicInstant sent) implements Phase {
        @Override
        public Step on(AcquireState state, AcquireEvent event) {
            if (event == Plain.GRANTED || event instanceof GrantEnded) {
                return state.to(PlainPhase.ENDED, AcquireEffect.Plain.DISCARD, AcquireEffect.Plain.LEAVE_CLIENT);
            }
            if (event instanceof Displaced) {
                return state.to(PlainPhase.ENDED, AcquireEffect.Plain.LEAVE_CLIENT);
            }
            if (event instanceof Failed failed && failed.cause() instanceof BackendUnavailableException) {
                return state.to(
                        PlainPhase.ENDED,
                        new RecordFailure(sent),
                        new Remove(state.contender),
                        AcquireEffect.Plain.LEAVE_CLIENT);
            }
            if (event instanceof Busy || event instanceof Failed || event == Plain.NOT_SENT) {
                return state.to(PlainPhase.ENDED, new Remove(state.contender), AcquireEffect.Plain.LEAVE_CLIENT);
            }
            return event == Plain.JOINED_BEHIND_OTHERS ? state.to(this, AcquireEffect.Plain.LEAVE_QUEUE) : state.stay();
        }
    }

    // ---- what the phases share

    /** @param before what to do before the attempt */
    private Step attempt(MonotonicInstant now, List<AcquireEffect> before) {
        AcquireState next = in(new Attempting(now, false));
        if (before.isEmpty()) {
            return new Step(next, contender == 1 ? FIRST_ATTEMPT : List.of(new Attempt(contender)));
        }
        return new Step(next, and(before, new Attempt(contender)));
    }

    private Step afterBusy(Busy busy, boolean woken) {
        if (!policy.mayWait()) {
            return with(history.afterBusy()).endIdle(PlainEnd.BUSY, NOTHING);
        }
        MonotonicInstant now = busy.now();
        MonotonicInstant warnAt = selfWaitAt == null ? now.plus(policy.leaseDuration()) : selfWaitAt;
        AcquireState next = new AcquireState(policy, phase, contender, history.afterBusy(), warnAt);
        if (woken) {
            return next.attempt(now, NOTHING);
        }
        Duration pause = policy.pauseAfterBusy(AttemptHistory.pauseAfterBusy(busy.retryAfter(), busy.jitter()));
        return next.to(new Waiting(now.plus(pause)));
    }

    /** Retries at once with a new contender; after a pause if the contender was displaced twice in a row. */
    private Step afterDisplaced(Unanswered event, String why, MonotonicInstant sent, List<AcquireEffect> before) {
        AcquireState next = new AcquireState(policy, phase, contender + 1, history.afterDisplaced(why), selfWaitAt);
        return history.displaced() ? next.afterFailure(event, sent, false, before) : next.attempt(event.now(), before);
    }

    /** @param before what to do first */
    private Step afterFailure(Unanswered event, MonotonicInstant sent, boolean woken, List<AcquireEffect> before) {
        AcquireState next = with(history.withFailureOf(sent));
        List<AcquireEffect> effects = and(before, new RecordFailure(sent));
        MonotonicInstant now = event.now();
        StoreContact contact = event.contact().failed(sent);
        MonotonicInstant since = next.history.failingSince() == null ? sent : next.history.failingSince();
        if (!policy.mayWait() || policy.outageTooLong(since, now, contact)) {
            return next.endIdle(next.unavailable(now, contact), effects);
        }
        Duration pause = policy.pauseAfterFailure(next.history.backoff(event.jitter()), since, now, contact);
        return woken || pause.isZero()
                ? next.attempt(now, effects)
                : new Step(next.in(new BackingOff(now.plus(pause), event instanceof GrantEnded)), effects);
    }

    /** Ends the operation by an event that is no result. */
    private Step end(End how) {
        if (phase instanceof Attempting attempting) {
            return to(new Ending(attempting.sent()), how);
        }
        return phase instanceof Pause
                ? endIdle(how, NOTHING)
                : to(PlainPhase.ENDED, AcquireEffect.Plain.LEAVE_CLIENT, how);
    }

    /** Ends the operation while its contender, if there is one, has no pending attempt. */
    private Step endIdle(End how, List<AcquireEffect> before) {
        return new Step(
                in(PlainPhase.ENDED), and(before, new Remove(contender), AcquireEffect.Plain.LEAVE_CLIENT, how));
    }

    /** Returns the outcome when the time limit has passed: busy only if the latest result was "busy" and is recent enough (S15). */
    private End atDeadline(DeadlineReached event) {
        return (history.busy() || event.queueBusy()) && policy.busyIsRecent(event.now(), event.contact())
                ? PlainEnd.BUSY
                : unavailable(event.now(), event.contact());
    }

    private Unavailable unavailable(MonotonicInstant now, StoreContact contact) {
        return new Unavailable(silence(now, contact), history.lastFailure());
    }

    /** Returns the time since the first request without a response. Time without requests is not an outage. */
    private Duration silence(MonotonicInstant now, StoreContact contact) {
        MonotonicInstant pending = phase instanceof Attempting attempting ? attempting.sent() : null;
        MonotonicInstant since = history.failingSince() != null ? history.failingSince() : pending;
        Duration own = since == null ? Duration.ZERO : since.until(now);
        Duration longest = Durations.longer(own, contact.failing(now));
        return longest.isZero() ? contact.since(now) : longest;
    }

    /** Returns whether the event is for an operation behind others, which this one was when the event was sent. */
    private static boolean isForQueued(AcquireEvent event) {
        return event == Plain.JOINED_BEHIND_OTHERS || event instanceof StoreSilent;
    }

    /** Returns whether the event is a hint for the present contender. A hint for one that was replaced is ignored. */
    private boolean isHint(AcquireEvent event) {
        return event instanceof LockFreed || (event instanceof Hint hint && hint.contender() == contender);
    }

    private AcquireState in(Phase next) {
        return new AcquireState(policy, next, contender, history, selfWaitAt);
    }

    private AcquireState with(AttemptHistory next) {
        return new AcquireState(policy, phase, contender, next, selfWaitAt);
    }

    private Step to(Phase next, AcquireEffect... effects) {
        return new Step(in(next), List.of(effects));
    }

    private Step stay() {
        return new Step(this, NOTHING);
    }

    private Step impossible(AcquireEvent event) {
        throw new IllegalStateException(event + " is impossible in " + phase);
    }

    private static List<AcquireEffect> and(List<AcquireEffect> before, AcquireEffect... more) {
        return Stream.concat(before.stream(), Stream.of(more)).toList();
    }
}
