// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.redlock.grant.RedlockContenderState.Phase;
import io.mortise.lock.redlock.grant.RedlockSteps.Taken;
import io.mortise.lock.redlock.vote.MasterVote;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks what must be true of each step of {@link RedlockSteps}, and that the diagram in {@code docs/protocols/redlock.md} shows
 * these steps. To write the diagram again, run this test with {@code -Dupdate.docs}.
 */
class RedlockProtocolPageTest {
    private static final ProtocolPage PAGE = new ProtocolPage("redlock");
    private static final List<Taken> REACHABLE = RedlockSteps.all();

    @Test
    void everyEventIsTaken() {
        Set<Class<?>> taken =
                REACHABLE.stream().map(each -> each.event().getClass()).collect(Collectors.toSet());
        Set<Class<?>> all = Stream.of(RedlockContenderEvent.class, RedlockContenderEvent.AtMaster.class)
                .flatMap(type -> Stream.of(type.getPermittedSubclasses()))
                .filter(Class::isRecord)
                .collect(Collectors.toSet());
        assertThat(taken).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void everyPhaseIsReached() {
        Set<Class<?>> reached = REACHABLE.stream()
                .map(taken -> taken.state().phase().getClass())
                .collect(Collectors.toSet());
        assertThat(reached).containsExactlyInAnyOrder(Phase.class.getPermittedSubclasses());
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        for (Taken taken : REACHABLE) {
            assertOutcomes(
                    taken,
                    Set.of("Voting", "WithoutQuorum", "StoringToken", "Pausing"),
                    taken.event() instanceof RedlockContenderEvent.Attempt,
                    Set.of("ReportGranted", "ReportBusy", "FailWithoutQuorum", "FailAttempt"));
            assertOutcomes(
                    taken,
                    Set.of("Releasing", "Delaying"),
                    taken.event() instanceof RedlockContenderEvent.End
                            || taken.event() instanceof RedlockContenderEvent.EndAfter,
                    Set.of("ReportEnded", "FailEnd"));
        }
    }

    private static void assertOutcomes(Taken taken, Set<String> pending, boolean called, Set<String> outcomes) {
        boolean before = called || pending.contains(name(taken.from().state()));
        boolean after = pending.contains(name(taken.state()));
        long reported = taken.effects().stream()
                .filter(effect -> outcomes.contains(effect.getClass().getSimpleName()))
                .count();
        assertThat(reported).as("%s", taken).isEqualTo(before && !after ? 1 : 0);
    }

    /** A request to delete a vote names a round that can no longer be won, or the vote would be deleted below a grant. */
    @Test
    void S01_onlyVotesOfLostRoundsAreYielded() {
        for (Taken taken : REACHABLE) {
            for (RedlockContenderEffect effect : taken.effects()) {
                if (effect instanceof RedlockContenderEffect.SendYield yield) {
                    boolean open = taken.state().phase() instanceof RedlockContenderState.Voting
                            || taken.state().phase() instanceof RedlockContenderState.StoringToken
                            || taken.state().phase() instanceof RedlockContenderState.Holding;
                    assertThat(yield.round() < taken.state().round() || !open)
                            .as("%s", taken)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void S03_aGrantHasAMajorityAndAStoredToken() {
        for (Taken taken : REACHABLE) {
            if (taken.calls(RedlockContenderEffect.ReportGranted.class)) {
                long votes = taken.state().votes().votes().stream()
                        .filter(MasterVote.Granted.class::isInstance)
                        .count();
                boolean stored = taken.event() instanceof RedlockContenderEvent.TokenStored;
                assertThat(votes).as("%s", taken).isGreaterThanOrEqualTo(2);
                assertThat(stored || taken.state().votes().isTokenUnanimous())
                        .as("%s", taken)
                        .isTrue();
            }
        }
    }

    @Test
    void S08_aContenderThatHasEndedCleansUpWhereARequestMayBeExecuted() {
        for (Taken taken : REACHABLE) {
            boolean removed = taken.event() instanceof RedlockContenderEvent.Removed;
            if (removed && taken.state().phase() instanceof RedlockContenderState.Ended) {
                int master = ((RedlockContenderEvent.Removed) taken.event()).master();
                AttemptAtMaster left = taken.state().masters().get(master);
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
        for (Taken taken : REACHABLE) {
            if (!name(taken.from().state()).equals(name(taken.state()))) {
                labels.computeIfAbsent(
                                name(taken.from().state()) + " --> " + name(taken.state()), key -> new TreeSet<>())
                        .add(taken.event().getClass().getSimpleName());
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
