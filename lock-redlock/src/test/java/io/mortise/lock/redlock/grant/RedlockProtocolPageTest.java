// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderState.Phase;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Takes every event in every state that a contender can reach in two rounds with three masters, of which each request has one
 * outcome. Checks what must be true of each step, and that the diagram in {@code docs/protocols/redlock.md} shows these steps. To
 * write the diagram again, run this test with {@code -Dupdate.docs}.
 */
class RedlockProtocolPageTest {
    private static final ProtocolPage PAGE = new ProtocolPage("redlock");
    private static final MonotonicInstant EARLY = new MonotonicInstant(0);
    private static final MonotonicInstant LATE = new MonotonicInstant(2);
    private static final MonotonicInstant BETWEEN = new MonotonicInstant(1);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown
    private static final BackendUnavailableException CAUSE = new BackendUnavailableException("a cause");

    /** A state, and the requests whose outcome is awaited. */
    private record Situation(RedlockContenderState state, Set<RedlockContenderEffect> awaited) {}

    private record Taken(
            Situation from,
            RedlockContenderEvent event,
            RedlockContenderState state,
            List<RedlockContenderEffect> effects) {
        boolean calls(Class<? extends RedlockContenderEffect> effect) {
            return effects.stream().anyMatch(effect::isInstance);
        }
    }

    private final List<Taken> reachable = new ArrayList<>();

    RedlockProtocolPageTest() {
        explore(true);
        explore(false);
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
        reachable.add(new Taken(from, event, step.state(), step.effects()));
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
    private static List<RedlockContenderEvent> calls(RedlockContenderState state) {
        Phase phase = state.phase();
        List<RedlockContenderEvent> calls = new ArrayList<>();
        if (phase instanceof RedlockContenderState.Idle && state.round() == 0) {
            calls.add(new RedlockContenderEvent.Attempt(BETWEEN, BETWEEN));
        }
        if (phase instanceof RedlockContenderState.Idle
                || phase instanceof RedlockContenderState.Holding
                || phase instanceof RedlockContenderState.EndFailed) {
            calls.add(new RedlockContenderEvent.End(BETWEEN));
        }
        if (phase instanceof RedlockContenderState.Holding || phase instanceof RedlockContenderState.EndFailed) {
            calls.add(new RedlockContenderEvent.EndAfter(Duration.ofSeconds(1)));
        }
        return calls;
    }

    /** Returns the outcomes of a request to the first two masters; the third one fails, so that there are not too many. */
    private static List<RedlockContenderEvent> outcomes(RedlockContenderEffect effect) {
        List<RedlockContenderEvent> events = new ArrayList<>();
        if (effect instanceof RedlockContenderEffect.SendAcquire send && send.master() == 2) {
            events.add(
                    voted(send, new MasterVote.Failed(CAUSE, false), new RedlockContenderEvent.NotExecuted(), EARLY));
        } else if (effect instanceof RedlockContenderEffect.SendAcquire send) {
            RedlockContenderEvent.Executed executed = new RedlockContenderEvent.Executed(1, 1, false);
            events.add(voted(send, new MasterVote.Granted(1 + send.master()), executed, EARLY));
            events.add(voted(send, new MasterVote.Granted(1), executed, EARLY));
            events.add(voted(send, new MasterVote.Granted(1), executed, LATE));
            for (String holder : send.master() == 0 ? List.of("other") : List.of("other", "another")) {
                events.add(voted(
                        send,
                        new MasterVote.Conflicted(holder, 5, 0),
                        new RedlockContenderEvent.Executed(1, 1, true),
                        EARLY));
            }
            events.add(voted(send, new MasterVote.Failed(CAUSE, true), new RedlockContenderEvent.InDoubt(1, 1), EARLY));
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
        } else if (effect instanceof RedlockContenderEffect.SendRemoval send && !send.forCleanup()) {
            events.add(new RedlockContenderEvent.Removed(send.master(), false, send.repeated(), true, 2, 2));
            events.add(new RedlockContenderEvent.Removed(send.master(), false, send.repeated(), false, 2, 2));
            events.add(new RedlockContenderEvent.RemovalFailed(send.master(), false, CAUSE, LATE));
        } else if (effect instanceof RedlockContenderEffect.SendDelayedRelease send) {
            events.add(new RedlockContenderEvent.Kept(send.master(), true, 2, 2));
            events.add(new RedlockContenderEvent.Kept(send.master(), false, 2, 2));
            events.add(new RedlockContenderEvent.KeepFailed(send.master(), "no reply"));
        } else if (effect instanceof RedlockContenderEffect.Pause pause && pause.splitRounds() < 2) {
            events.add(new RedlockContenderEvent.PauseOver(BETWEEN, true));
        }
        return events;
    }

    private static RedlockContenderEvent voted(
            RedlockContenderEffect.SendAcquire send,
            MasterVote vote,
            RedlockContenderEvent.Execution execution,
            MonotonicInstant now) {
        return new RedlockContenderEvent.Voted(send.master(), send.round(), vote, execution, now);
    }

    @Test
    void everyPhaseIsReached() {
        Set<Class<?>> reached =
                reachable.stream().map(taken -> taken.state.phase().getClass()).collect(Collectors.toSet());
        assertThat(reached).containsExactlyInAnyOrder(Phase.class.getPermittedSubclasses());
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        for (Taken taken : reachable) {
            assertOutcomes(
                    taken,
                    Set.of("Voting", "WithoutQuorum", "StoringToken", "Pausing"),
                    taken.event instanceof RedlockContenderEvent.Attempt,
                    Set.of("ReportGranted", "ReportBusy", "FailWithoutQuorum", "FailAttempt"));
            assertOutcomes(
                    taken,
                    Set.of("Releasing", "Delaying"),
                    taken.event instanceof RedlockContenderEvent.End
                            || taken.event instanceof RedlockContenderEvent.EndAfter,
                    Set.of("ReportEnded", "FailEnd"));
        }
    }

    private static void assertOutcomes(Taken taken, Set<String> pending, boolean called, Set<String> outcomes) {
        boolean before = called || pending.contains(name(taken.from.state));
        boolean after = pending.contains(name(taken.state));
        long reported = taken.effects.stream()
                .filter(effect -> outcomes.contains(effect.getClass().getSimpleName()))
                .count();
        assertThat(reported).as("%s", taken).isEqualTo(before && !after ? 1 : 0);
    }

    /** A request to delete a vote names a round that can no longer be won, or the vote would be deleted below a grant. */
    @Test
    void S01_onlyVotesOfLostRoundsAreYielded() {
        for (Taken taken : reachable) {
            for (RedlockContenderEffect effect : taken.effects) {
                if (effect instanceof RedlockContenderEffect.SendYield yield) {
                    boolean open = taken.state.phase() instanceof RedlockContenderState.Voting
                            || taken.state.phase() instanceof RedlockContenderState.StoringToken
                            || taken.state.phase() instanceof RedlockContenderState.Holding;
                    assertThat(yield.round() < taken.state.round() || !open)
                            .as("%s", taken)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void S03_aGrantHasAMajorityAndAStoredToken() {
        for (Taken taken : reachable) {
            if (taken.calls(RedlockContenderEffect.ReportGranted.class)) {
                long votes = taken.state.votes().votes().stream()
                        .filter(MasterVote.Granted.class::isInstance)
                        .count();
                boolean stored = taken.event instanceof RedlockContenderEvent.TokenStored;
                assertThat(votes).as("%s", taken).isGreaterThanOrEqualTo(2);
                assertThat(stored || taken.state.votes().isTokenUnanimous())
                        .as("%s", taken)
                        .isTrue();
            }
        }
    }

    @Test
    void S08_aContenderThatHasEndedCleansUpWhereARequestMayBeExecuted() {
        for (Taken taken : reachable) {
            boolean removed = taken.event instanceof RedlockContenderEvent.Removed;
            if (removed && taken.state.phase() instanceof RedlockContenderState.Ended) {
                int master = ((RedlockContenderEvent.Removed) taken.event).master();
                AttemptAtMaster left = taken.state.masters().get(master);
                assertThat(left.cleaning() || !left.mayStillExecute())
                        .as("%s", taken)
                        .isTrue();
            }
        }
    }

    @Test
    void theDiagramOnThePageShowsTheTransitions() {
        String expected = diagram();
        assertThat(PAGE.shownDiagram(expected))
                .as("the diagram; -Dupdate.docs writes it again")
                .isEqualTo(expected);
    }

    /** Returns the transitions from one phase to another, in the order of the phases in the code. */
    private String diagram() {
        Map<String, Set<String>> labels = new TreeMap<>();
        for (Taken taken : reachable) {
            if (!name(taken.from.state).equals(name(taken.state))) {
                labels.computeIfAbsent(name(taken.from.state) + " --> " + name(taken.state), key -> new TreeSet<>())
                        .add(taken.event.getClass().getSimpleName());
            }
        }
        return ProtocolPage.diagram(labels, phases());
    }

    private static List<String> phases() {
        return Arrays.stream(Phase.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .toList();
    }

    private static String name(RedlockContenderState state) {
        return state.phase().getClass().getSimpleName();
    }
}
