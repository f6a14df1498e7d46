// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.Transition;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderState.Phase;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes every event in every state that a contender can reach in two rounds with three masters, of which each request has one
 * outcome.
 */
final class RedlockSteps {
    private static final MonotonicInstant EARLY = new MonotonicInstant(0);
    private static final MonotonicInstant LATE = new MonotonicInstant(2);
    private static final MonotonicInstant BETWEEN = new MonotonicInstant(1);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown
    private static final BackendUnavailableException CAUSE = new BackendUnavailableException("a cause");

    /** A state, and the requests whose outcome is awaited. */
    private record Situation(RedlockContenderState state, Set<RedlockContenderEffect> awaited) {}

    /** Further events that may happen, of one kind at a time: all together lead to millions of states. */
    private enum Extra {
        NOTHING,
        SECOND_ATTEMPT,
        LOST_YIELD,
        HINTS,
        RECOVERY,
        REPEATED_RELEASE,
        CLEANUP
    }

    private final Extra extra;
    private final List<Transition<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect>> taken =
            new ArrayList<>();

    private RedlockSteps(Extra extra) {
        this.extra = extra;
    }

    /** Returns each step that can be reached. */
    static TransitionGraph<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect> graph() {
        List<Transition<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect>> all = new ArrayList<>();
        for (Extra extra : Extra.values()) {
            RedlockSteps steps = new RedlockSteps(extra);
            steps.explore(true);
            steps.explore(false);
            all.addAll(steps.taken);
        }
        return new TransitionGraph<>(all);
    }

    private void explore(boolean mayWait) {
        Situation initial = new Situation(RedlockContenderState.initial(3, mayWait), Set.of());
        Set<Situation> known = new LinkedHashSet<>(Set.of(initial));
        Deque<Situation> open = new ArrayDeque<>(known);
        while (!open.isEmpty()) {
            Situation from = open.remove();
            calls(from.state).forEach(event -> take(from, event, null, known, open));
            for (RedlockContenderEffect request : from.awaited) {
                outcomes(request).forEach(event -> take(from, event, request, known, open));
            }
        }
    }

    private void take(
            Situation from,
            RedlockContenderEvent event,
            @Nullable RedlockContenderEffect answered,
            Set<Situation> known,
            Deque<Situation> open) {
        RedlockContenderState.Step step = RedlockContenderState.on(from.state, event);
        taken.add(new Transition<>(from.state, event, step.state(), step.effects()));
        Set<RedlockContenderEffect> awaited = new LinkedHashSet<>(from.awaited);
        if (answered != null) {
            awaited.remove(answered);
        }
        step.effects().stream().filter(effect -> !outcomes(effect).isEmpty()).forEach(awaited::add);
        Situation next = new Situation(step.state(), awaited);
        if (known.add(next)) {
            open.add(next);
        }
    }

    /** Returns what the core may do. */
    private List<RedlockContenderEvent> calls(RedlockContenderState state) {
        Phase phase = state.phase();
        List<RedlockContenderEvent> calls = new ArrayList<>();
        boolean mayAttempt =
                state.round() == 0 || (state.round() == 1 && extra == Extra.SECOND_ATTEMPT && state.mayWait());
        if (phase instanceof RedlockContenderState.Idle && mayAttempt) {
            calls.add(new RedlockContenderEvent.Attempt(BETWEEN, BETWEEN));
        }
        if (phase instanceof RedlockContenderState.Idle
                || phase instanceof RedlockContenderState.Holding
                || phase instanceof RedlockContenderState.EndFailed) {
            calls.add(new RedlockContenderEvent.End(BETWEEN));
        }
        boolean held =
                phase instanceof RedlockContenderState.Holding || phase instanceof RedlockContenderState.EndFailed;
        if (held && extra != Extra.CLEANUP) {
            calls.add(new RedlockContenderEvent.EndAfter(Duration.ofSeconds(1)));
        }
        if (extra == Extra.RECOVERY
                && phase instanceof RedlockContenderState.Holding
                && state.masters().get(2).awaited() == 0) {
            calls.add(new RedlockContenderEvent.VoteMissing(2));
        }
        if (extra == Extra.HINTS && state.mayWait()) {
            calls.add(new RedlockContenderEvent.Hint(0));
            calls.add(new RedlockContenderEvent.Hint(1));
        }
        return calls;
    }

    /** Returns the outcomes of a request to the first two masters; the third one fails, so that there are not too many. */
    private List<RedlockContenderEvent> outcomes(RedlockContenderEffect effect) {
        List<RedlockContenderEvent> events = new ArrayList<>();
        if (effect instanceof RedlockContenderEffect.SendAcquire send && send.master() == 2) {
            events.add(
                    voted(send, new MasterVote.Failed(CAUSE, false), new RedlockContenderEvent.NotExecuted(), EARLY));
        } else if (effect instanceof RedlockContenderEffect.SendAcquire send) {
            RedlockContenderEvent.Executed executed = new RedlockContenderEvent.Executed(1, 1, false);
            events.add(voted(send, new MasterVote.Granted(1), executed, EARLY));
            events.add(voted(send, new MasterVote.Failed(CAUSE, true), new RedlockContenderEvent.InDoubt(1, 1), EARLY));
            if (extra != Extra.NOTHING) {
                if (extra != Extra.CLEANUP) {
                    events.add(conflicted(send, "other"));
                }
                return events;
            }
            events.add(voted(send, new MasterVote.Granted(1 + send.master()), executed, EARLY));
            events.add(voted(send, new MasterVote.Granted(1), executed, LATE));
            for (String holder : send.master() == 0 ? List.of("other") : List.of("other", "another")) {
                events.add(conflicted(send, holder));
            }
            if (send.tries() > 1) {
                events.add(new RedlockContenderEvent.CameTooLate(
                        send.master(),
                        send.round(),
                        send.tries(),
                        new RedlockContenderEvent.Refused(1, 1),
                        new MasterVote.Failed(CAUSE, false),
                        EARLY));
            }
        } else if (effect instanceof RedlockContenderEffect.SendToken send) {
            for (Answer answer : List.of(Answer.YES, Answer.NO, Answer.NONE)) {
                events.add(new RedlockContenderEvent.TokenStored(send.master(), send.round(), answer, EARLY));
            }
        } else if (effect instanceof RedlockContenderEffect.SendRemoval send) {
            boolean forCleanup = send.forCleanup();
            events.add(new RedlockContenderEvent.Removed(send.master(), forCleanup, send.repeated(), false, 2, 2));
            if (forCleanup || extra != Extra.CLEANUP) {
                events.add(new RedlockContenderEvent.RemovalFailed(send.master(), forCleanup, CAUSE, LATE));
            }
            if (!forCleanup) {
                events.add(new RedlockContenderEvent.Removed(send.master(), false, send.repeated(), true, 2, 2));
            }
            if (extra == Extra.REPEATED_RELEASE) {
                events.add(new RedlockContenderEvent.RemovalFailed(send.master(), false, CAUSE, EARLY));
            }
        } else if (effect instanceof RedlockContenderEffect.SendDelayedRelease send) {
            events.add(new RedlockContenderEvent.Kept(send.master(), true, 2, 2));
            events.add(new RedlockContenderEvent.Kept(send.master(), false, 2, 2));
            events.add(new RedlockContenderEvent.KeepFailed(send.master(), "no reply"));
        } else if (effect instanceof RedlockContenderEffect.Pause pause && pause.splitRounds() < 2) {
            events.add(new RedlockContenderEvent.PauseOver(BETWEEN, true));
        } else if (effect instanceof RedlockContenderEffect.SendYield send && extra == Extra.LOST_YIELD) {
            events.add(new RedlockContenderEvent.YieldFailed(send.master()));
        } else if (effect instanceof RedlockContenderEffect.SendRecovery send) {
            events.add(new RedlockContenderEvent.Recovered(
                    send.master(), new RedlockContenderEvent.Executed(1, 1, false)));
            events.add(new RedlockContenderEvent.Recovered(send.master(), new RedlockContenderEvent.InDoubt(1, 1)));
        } else if (effect instanceof RedlockContenderEffect.RepeatRemoval repeat) {
            events.add(new RedlockContenderEvent.RemovalDue(repeat.master()));
        } else if (extra == Extra.CLEANUP) {
            if (effect instanceof RedlockContenderEffect.StartCleanup start) {
                events.add(new RedlockContenderEvent.CleanupDue(start.master()));
            } else if (effect instanceof RedlockContenderEffect.RepeatCleanup repeat) {
                events.add(new RedlockContenderEvent.CleanupDue(repeat.master()));
            } else if (effect instanceof RedlockContenderEffect.FailCleanup failure) {
                events.add(new RedlockContenderEvent.CleanupDue(failure.master()));
            } else if (effect instanceof RedlockContenderEffect.CompleteCleanup complete) {
                events.add(new RedlockContenderEvent.CleanupEnded(complete.master()));
            }
        } else if (effect == RedlockContenderEffect.Plain.AWAIT_HINTS) {
            events.add(new RedlockContenderEvent.HintsDue());
        }
        return events;
    }

    private static RedlockContenderEvent conflicted(RedlockContenderEffect.SendAcquire send, String holder) {
        MasterVote vote = new MasterVote.Conflicted(holder, 5, 0);
        return voted(send, vote, new RedlockContenderEvent.Executed(1, 1, true), EARLY);
    }

    private static RedlockContenderEvent voted(
            RedlockContenderEffect.SendAcquire send,
            MasterVote vote,
            RedlockContenderEvent.Execution execution,
            MonotonicInstant now) {
        return new RedlockContenderEvent.Voted(send.master(), send.round(), vote, execution, now);
    }
}
