// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.lease.LeaseEvent.Plain;
import io.mortise.lock.core.lease.LeaseState.Lost;
import io.mortise.lock.core.lease.LeaseState.Released;
import io.mortise.lock.core.lease.LeaseState.Releasing;
import io.mortise.lock.core.lease.LeaseState.Step;
import io.mortise.lock.core.lease.LeaseWorld.Option;
import io.mortise.lock.core.lease.LeaseWorld.Scope;
import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores the interleavings in the life of one lease: the production state machine in a model of the core and of the store. */
class LeaseExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("core");
    private static final ProtocolExplorer<Scope, LeaseWorld> EXPLORER =
            new ProtocolExplorer<>(LeaseWorld::new, Scope::withoutDefect, scope -> false, 200_000);
    private static final LossReason LOSS = new LossReason(LossReason.Kind.REMOVED, "test");

    @ParameterizedTest
    @MethodSource
    void S02_S05_S07_S08_everyInterleavingKeepsTheRules(Scope scope) {
        Exploration<LeaseWorld> explored = EXPLORER.assertRulesHold(scope);
        Set<Option> options = scope.options();
        boolean delivered = !options.contains(Option.NOT_DELIVERED);
        boolean observed = options.contains(Option.OBSERVED);
        assertThat(explored.situations()).containsKeys("HELD", "lost while it is registered");
        for (Option option : Option.values()) {
            explored.assertReaches(leadsTo(option), options.contains(option));
        }
        explored.assertReaches("RELEASED", delivered);
        explored.assertReaches("overtaken by the deadline", delivered);
        explored.assertReaches("lost before it is observed", observed);
        explored.assertReaches("released before it is observed", observed);
        PAGE.assertShows("| a lease | " + ProtocolPage.names(options) + " | none |", explored);
    }

    /** Returns a situation that the option leads to, and that does not occur without it. */
    private static String leadsTo(Option option) {
        return switch (option) {
            case OBSERVED -> "OBSERVED";
            case NOT_DELIVERED -> "discarded while it is valid";
            case VALIDITY_LOST -> "lost: EXPIRED";
            case GRANT_LOST -> "lost alone";
            case CLOSE -> "lost: CLIENT_CLOSED";
            case SECOND_RELEASE -> "released twice";
            case SLOW_RELEASE -> "the release is repeated";
            case FORCED_RELEASE -> "found missing";
            case DELAYED_RELEASE -> "kept for a delay";
        };
    }

    private static Scope allBut(Option... without) {
        Set<Option> options = EnumSet.allOf(Option.class);
        List.of(without).forEach(options::remove);
        return Scope.of(options.toArray(Option[]::new));
    }

    static Stream<Scope> S02_S05_S07_S08_everyInterleavingKeepsTheRules() {
        return Stream.of(
                allBut(Option.NOT_DELIVERED, Option.CLOSE, Option.SECOND_RELEASE, Option.DELAYED_RELEASE),
                allBut(Option.NOT_DELIVERED, Option.GRANT_LOST, Option.SECOND_RELEASE, Option.DELAYED_RELEASE),
                allBut(Option.OBSERVED, Option.SECOND_RELEASE, Option.SLOW_RELEASE, Option.DELAYED_RELEASE),
                allBut(Option.NOT_DELIVERED, Option.GRANT_LOST, Option.CLOSE, Option.OBSERVED));
    }

    @ParameterizedTest
    @MethodSource
    void aDefectIsFound(Defect<Scope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<Scope>> aDefectIsFound() {
        return Stream.of(
                new Defect<>(
                        "a loss during the registration undoes nothing",
                        "S17",
                        Scope.of(Option.GRANT_LOST)
                                .with((state, event) -> state instanceof Lost lost && lost.registering()
                                        ? without(LeaseEffect.Plain.STOP_WATCHING::equals)
                                                .apply(state, event)
                                        : state.on(event))),
                new Defect<>(
                        "a loss during the registration ends the renewals at once",
                        "S17",
                        Scope.of(Option.GRANT_LOST).with((state, event) -> {
                            Step step = state.on(event);
                            return state == LeaseState.Open.GRANTED && step.state() instanceof Lost
                                    ? new Step(
                                            step.state(),
                                            List.of(
                                                    LeaseEffect.Plain.STOP_WATCHING,
                                                    step.effects().get(0)))
                                    : step;
                        })),
                new Defect<>(
                        "two losses are handled twice",
                        "S08",
                        Scope.of(Option.GRANT_LOST, Option.VALIDITY_LOST)
                                .with((state, event) -> event == Plain.AFTER_LOSS && state instanceof Lost lost
                                        ? new Lost(lost.reason(), lost.observed(), false, lost.registering()).on(event)
                                        : state.on(event))),
                new Defect<>(
                        "a loss replaces a release",
                        "S07",
                        Scope.of(Option.GRANT_LOST)
                                .with((state, event) -> state instanceof Releasing && event instanceof LeaseEvent.Loss
                                        ? new Step(
                                                new Lost(LOSS, true, false, false),
                                                List.of(new LeaseEffect.AnnounceLoss(LOSS)))
                                        : state.on(event))),
                new Defect<>(
                        "a late outcome replaces an earlier one",
                        "S05",
                        Scope.of(Option.SLOW_RELEASE)
                                .with((state, event) ->
                                        state instanceof Released released && event instanceof LeaseEvent.ReleaseEnded
                                                ? new Releasing(released.since(), false).on(event)
                                                : state.on(event))),
                new Defect<>(
                        "the grant of a lost lease is not removed",
                        "S08",
                        Scope.of(Option.GRANT_LOST).with(without(LeaseEffect.Plain.REMOVE_GRANT::equals))),
                new Defect<>( // a late renewal may have extended it
                        "the grant of an expired lease is not removed",
                        "S08",
                        Scope.of(Option.VALIDITY_LOST)
                                .with((state, event) -> state instanceof Lost lost
                                                && lost.reason().kind() == LossReason.Kind.EXPIRED
                                        ? without(LeaseEffect.Plain.REMOVE_GRANT::equals)
                                                .apply(state, event)
                                        : state.on(event))),
                new Defect<>(
                        "a release that the deadline overtook reports a loss",
                        "S05",
                        Scope.of(Option.VALIDITY_LOST)
                                .with((wasThere, firstTry, ended, delayOver) ->
                                        LeaseState.outcome(wasThere, firstTry, null, delayOver))),
                new Defect<>(
                        "a repeated release that the deadline overtook reports a release",
                        "S05",
                        Scope.of(Option.VALIDITY_LOST, Option.SLOW_RELEASE)
                                .with((wasThere, firstTry, ended, delayOver) ->
                                        LeaseState.outcome(wasThere, firstTry, firstTry ? ended : null, delayOver))),
                new Defect<>(
                        "a grant that was found missing counts as one that ended by itself",
                        "S05",
                        Scope.of(Option.FORCED_RELEASE)
                                .with((wasThere, firstTry, ended, delayOver) -> LeaseState.outcome(
                                        wasThere,
                                        firstTry,
                                        ended == null ? null : LossReason.Kind.EXPIRED,
                                        delayOver))),
                new Defect<>(
                        "a repeated release that finds nothing during its delay reports a release",
                        "S05",
                        Scope.of(Option.SLOW_RELEASE, Option.FORCED_RELEASE, Option.DELAYED_RELEASE)
                                .with((wasThere, firstTry, ended, delayOver) ->
                                        LeaseState.outcome(wasThere, firstTry, ended, true))),
                new Defect<>(
                        "a repeated release that finds nothing reports a loss",
                        "S05",
                        Scope.of(Option.SLOW_RELEASE)
                                .with((wasThere, firstTry, ended, delayOver) ->
                                        LeaseState.outcome(wasThere, true, ended, delayOver))),
                new Defect<>(
                        "a lease that is not delivered is discarded after its loss, too",
                        "S08",
                        Scope.of(Option.GRANT_LOST, Option.NOT_DELIVERED)
                                .with((state, event) -> state instanceof Lost && event == Plain.DISCARD
                                        ? new Step(state, List.of(LeaseEffect.Plain.REMOVE_GRANT))
                                        : state.on(event))),
                new Defect<>(
                        "observers are not told of a loss before they observe",
                        "S07",
                        Scope.of(Option.OBSERVED, Option.GRANT_LOST)
                                .with((state, event) -> state instanceof Lost && event == Plain.OBSERVED
                                        ? new Step(state, List.of())
                                        : state.on(event))),
                new Defect<>( // so a close did not wait for it
                        "a lease leaves the client before the removal of its grant begins",
                        "S16",
                        Scope.of(Option.GRANT_LOST).with((state, event) -> {
                            Step step = state.on(event);
                            return new Step(
                                    step.state(),
                                    step.effects().stream()
                                            .sorted(Comparator.comparing(
                                                    effect -> effect != LeaseEffect.Plain.LEAVE_CLIENT))
                                            .toList());
                        })),
                new Defect<>( // as it was before the state machine
                        "observers are not told of a release by an observer",
                        "S07",
                        Scope.of(Option.OBSERVED)
                                .with((state, event) -> (state instanceof Releasing || state instanceof Released)
                                                && event == Plain.OBSERVED
                                        ? new Step(state, List.of())
                                        : state.on(event))));
    }

    private static BiFunction<LeaseState, LeaseEvent, Step> without(Predicate<LeaseEffect> missing) {
        return (state, event) -> {
            Step step = state.on(event);
            return new Step(
                    step.state(),
                    step.effects().stream().filter(missing.negate()).toList());
        };
    }

    @Test
    void thePageShowsTheStateMachine() {
        MonotonicInstant now = new MonotonicInstant(0);
        List<LeaseEvent> events = new ArrayList<>(List.of(Plain.values()));
        events.add(new LeaseEvent.Loss(LOSS));
        events.add(new LeaseEvent.Release(now, now));
        events.add(new LeaseEvent.ReleaseEnded(ReleaseOutcome.RELEASED));
        TransitionGraph<LeaseState, LeaseEvent, LeaseEffect> graph = TransitionGraph.of(
                List.of(LeaseState.Open.GRANTED),
                state -> events,
                LeaseState::on,
                Step::state,
                Step::effects,
                state -> state);
        PAGE.assertShows(
                graph.filter(taken -> !taken.to().equals(taken.from())
                                || !taken.effects().isEmpty())
                        .arrows(state -> state),
                List.of("GRANTED", "UNUSABLE", "HELD", "OBSERVED", "Releasing", "Lost", "DISCARDED", "Released"));
    }
}
