// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.Transition;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.explorer.World;
import io.mortise.lock.redlock.grant.RedlockContenderState.Phase;
import io.mortise.lock.redlock.vote.MasterVote;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks what must be true of each step of {@link RedlockSteps}, and that the diagram in {@code docs/protocols/redlock.md} shows
 * these steps. To write the diagram again, run this test with {@code -Dupdate.docs}.
 */
class RedlockProtocolPageTest {
    private static final TransitionGraph<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect> GRAPH =
            RedlockSteps.graph();

    @Test
    void everyEventIsTaken() {
        Set<Class<?>> taken = new HashSet<>();
        GRAPH.forEach(each -> taken.add(each.event().getClass()));
        Set<Class<?>> all = Stream.of(RedlockContenderEvent.class, RedlockContenderEvent.AtMaster.class)
                .flatMap(type -> Stream.of(type.getPermittedSubclasses()))
                .filter(Class::isRecord)
                .collect(Collectors.toSet());
        assertThat(taken).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        assertOneOutcome(
                Set.of("Voting", "WithoutQuorum", "StoringToken", "Pausing"),
                event -> event instanceof RedlockContenderEvent.Attempt,
                Set.of("ReportGranted", "ReportBusy", "FailWithoutQuorum", "FailAttempt"));
        assertOneOutcome(
                Set.of("Releasing", "Delaying"),
                event -> event instanceof RedlockContenderEvent.End || event instanceof RedlockContenderEvent.EndAfter,
                Set.of("ReportEnded", "FailEnd"));
    }

    private static void assertOneOutcome(
            Set<String> pending, Predicate<RedlockContenderEvent> call, Set<String> outcomes) {
        GRAPH.assertOneOutcome(
                state -> pending.contains(World.name(state.phase())),
                call,
                effect -> outcomes.contains(World.name(effect)));
    }

    /** A request to delete a vote names a round that can no longer be won, or the vote would be deleted below a grant. */
    @Test
    void S01_onlyVotesOfLostRoundsAreYielded() {
        for (Transition<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect> taken : GRAPH) {
            for (RedlockContenderEffect effect : taken.effects()) {
                if (effect instanceof RedlockContenderEffect.SendYield yield) {
                    boolean open = taken.to().phase() instanceof RedlockContenderState.Voting
                            || taken.to().phase() instanceof RedlockContenderState.StoringToken
                            || taken.to().phase() instanceof RedlockContenderState.Holding;
                    assertThat(yield.round() < taken.to().round() || !open)
                            .as("%s", taken)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void S03_aGrantHasAMajorityAndAStoredToken() {
        for (Transition<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect> taken : GRAPH) {
            if (taken.has(RedlockContenderEffect.ReportGranted.class::isInstance)) {
                long votes = taken.to().votes().votes().stream()
                        .filter(MasterVote.Granted.class::isInstance)
                        .count();
                boolean stored = taken.event() instanceof RedlockContenderEvent.TokenStored;
                assertThat(votes).as("%s", taken).isGreaterThanOrEqualTo(2);
                assertThat(stored || taken.to().votes().isTokenUnanimous())
                        .as("%s", taken)
                        .isTrue();
            }
        }
    }

    @Test
    void S08_aContenderThatHasEndedCleansUpWhereARequestMayBeExecuted() {
        for (Transition<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect> taken : GRAPH) {
            boolean removed = taken.event() instanceof RedlockContenderEvent.Removed;
            if (removed && taken.to().phase() instanceof RedlockContenderState.Ended) {
                int master = ((RedlockContenderEvent.Removed) taken.event()).master();
                AttemptAtMaster left = taken.to().masters().get(master);
                assertThat(left.cleaning() || !left.mayStillExecute())
                        .as("%s", taken)
                        .isTrue();
            }
        }
    }

    /** Shown are the transitions from one phase to another. */
    @Test
    void theDiagramOnThePageShowsTheTransitions() {
        Map<String, Set<String>> arrows = GRAPH.filter(taken ->
                        taken.from().phase().getClass() != taken.to().phase().getClass())
                .arrows(RedlockContenderState::phase);
        new ProtocolPage("redlock").assertShows(arrows, ProtocolPage.phases(Phase.class));
    }
}
