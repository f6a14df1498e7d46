// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.core.acquire.AcquireState.Attempting;
import io.mortise.lock.core.acquire.AcquireState.BackingOff;
import io.mortise.lock.core.acquire.AcquireState.Ending;
import io.mortise.lock.core.acquire.AcquireState.PlainPhase;
import io.mortise.lock.core.acquire.AcquireState.Step;
import io.mortise.lock.core.acquire.AcquireWorld.Fault;
import io.mortise.lock.core.acquire.AcquireWorld.Option;
import io.mortise.lock.core.acquire.AcquireWorld.Scope;
import io.mortise.lock.core.acquire.AcquireWorld.ShellCheck;
import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.explorer.World;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores the interleavings of acquire operations: the production state machine against a model of a backend. */
class AcquireExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("core");
    private static final ProtocolExplorer<Scope, AcquireWorld> EXPLORER = new ProtocolExplorer<>(
            AcquireWorld::new, Scope::withoutDefect, AcquireExplorationTest::needsFallback, 20_000_000);

    /** Explored without fallback times, which hide each lost wake-up, unless another client releases without a hint. */
    @ParameterizedTest
    @MethodSource
    void S08_S09_S11_S12_S15_S16_everyInterleavingKeepsTheRules(Scope scope) {
        Exploration<AcquireWorld> explored = EXPLORER.assertRulesHold(scope);
        boolean single = has(scope, Option.SINGLE_ATTEMPT);
        boolean limited = has(scope, Option.LIMIT, Option.LIMIT_OF_FIRST);
        explored.assertReaches("delivered", true);
        explored.assertReaches("ended during an attempt", limited || has(scope, Option.WITHDRAWAL, Option.CLOSE));
        explored.assertReaches("busy with another client", has(scope, Option.HELD));
        explored.assertReaches(
                "BUSY",
                (limited || single)
                        && (has(scope, Option.HELD) || scope.operations() > 1 || may(scope, Fault.DISPLACED)));
        explored.assertReaches("WITHDRAWN", has(scope, Option.WITHDRAWAL));
        explored.assertReaches("CLOSED", has(scope, Option.CLOSE));
        explored.assertReaches("granted during the close", has(scope, Option.CLOSE));
        explored.assertReaches("JOINING", has(scope, Option.LOCAL_QUEUE));
        explored.assertReaches("Unavailable", limited || single || may(scope, Fault.OUTAGE));
        explored.assertReaches("FailedForGood", may(scope, Fault.REFUSED));
        explored.assertReaches("replaced", may(scope, Fault.DISPLACED, Fault.GRANT_ENDED));
        explored.assertReaches(
                "BackingOff",
                !single && (may(scope, Fault.NO_REPLY) || (scope.faults() > 1 && may(scope, Fault.GRANT_ENDED))));
        String start = String.format(
                "| acquires: %d | %s | %s |",
                scope.operations(),
                ProtocolPage.names(scope.options()),
                ProtocolPage.faults(scope.faults(), scope.possible(), Fault.class));
        PAGE.assertShows(start, explored);
    }

    private static boolean has(Scope scope, Option... some) {
        return Stream.of(some).anyMatch(scope.options()::contains);
    }

    private static boolean may(Scope scope, Fault... some) {
        return Stream.of(some).anyMatch(scope.possible()::contains);
    }

    @ParameterizedTest
    @EnumSource
    void eachFaultLeadsToASituationOfItsOwn(Fault fault) {
        Scope scope = Scope.of(1, Option.LOCAL_QUEUE, Option.HELD); // so that no hint comes without a fault
        EXPLORER.assertRulesHold(scope).assertReaches(leadsTo(fault), false);
        EXPLORER.assertRulesHold(scope.faults(1, fault)).assertReaches(leadsTo(fault), true);
    }

    private static String leadsTo(Fault fault) {
        return switch (fault) {
            case NO_REPLY -> "BackingOff";
            case OUTAGE -> "Unavailable";
            case REFUSED -> "FailedForGood";
            case NOT_ENQUEUED -> "backs off without a contender";
            case DISPLACED, GRANT_ENDED -> "replaced";
            case SPURIOUS_HINT -> "woken";
            case LATE_TIMER -> "tries again before its time";
        };
    }

    @Test
    void thePageShowsTheStateMachine() {
        Map<String, AcquireState> representatives = new HashMap<>();
        TransitionGraph<AcquireState, AcquireEvent, AcquireEffect> graph = TransitionGraph.of(
                List.of(
                        AcquireState.initial(AcquireWorld.policy(Option.WITHDRAWAL)),
                        AcquireState.initial(AcquireWorld.policy(Option.SINGLE_ATTEMPT))),
                state -> AcquireWorld.events(state.contender()),
                AcquireState::on,
                Step::state,
                Step::effects,
                state -> representatives.computeIfAbsent(situation(state), key -> state));
        PAGE.assertShows(
                graph.filter(taken -> !name(taken.to()).equals(name(taken.from()))
                                || !taken.effects().isEmpty())
                        .arrows(AcquireState::phase),
                List.of("NEW", "JOINING", "QUEUED", "Attempting", "Waiting", "BackingOff", "Ending", "ENDED"));
    }

    /** Returns what counts about a state for where events lead. */
    private static String situation(AcquireState state) {
        return name(state)
                + state.policy().mayWait()
                + state.history().displaced()
                + state.phase().toString().contains("woken=true");
    }

    private static String name(AcquireState state) {
        return World.name(state.phase());
    }

    private static boolean needsFallback(Scope scope) {
        return scope.options().containsAll(Set.of(Option.LOCAL_QUEUE, Option.HELD))
                || Stream.of(Fault.NO_REPLY, Fault.OUTAGE, Fault.DISPLACED, Fault.NOT_ENQUEUED, Fault.GRANT_ENDED)
                        .anyMatch(scope.possible()::contains);
    }

    static Stream<Scope> S08_S09_S11_S12_S15_S16_everyInterleavingKeepsTheRules() {
        return Stream.of(
                Scope.of(2, Option.HELD, Option.WITHDRAWAL, Option.CLOSE),
                Scope.of(2, Option.HELD, Option.LIMIT).faults(1, Fault.SPURIOUS_HINT, Fault.LATE_TIMER),
                Scope.of(2, Option.LOCAL_QUEUE, Option.WITHDRAWAL, Option.CLOSE),
                Scope.of(3, Option.LOCAL_QUEUE),
                Scope.of(2, Option.LOCAL_QUEUE, Option.HELD, Option.LIMIT)
                        .faults(1, Fault.NO_REPLY, Fault.OUTAGE, Fault.REFUSED, Fault.DISPLACED, Fault.GRANT_ENDED),
                Scope.of(2, Option.LOCAL_QUEUE, Option.LIMIT_OF_FIRST).faults(1, Fault.NO_REPLY, Fault.OUTAGE),
                Scope.of(1, Option.HELD, Option.LIMIT, Option.WITHDRAWAL, Option.CLOSE)
                        .faults(1, Fault.values()),
                Scope.of(1, Option.LIMIT).faults(2, Fault.values()),
                Scope.of(1, Option.LOCAL_QUEUE).faults(2, Fault.GRANT_ENDED, Fault.DISPLACED),
                Scope.of(1, Option.HELD, Option.SINGLE_ATTEMPT, Option.CLOSE).faults(2, Fault.values()),
                Scope.of(2, Option.WITHDRAWAL)
                        .faults(1, Fault.NO_REPLY, Fault.OUTAGE, Fault.REFUSED, Fault.DISPLACED, Fault.GRANT_ENDED));
    }

    /** For {@code ./verify --deep}: minutes, and gigabytes of memory. */
    @ParameterizedTest
    @MethodSource
    @EnabledIfSystemProperty(named = "mortise.explore", matches = "deep")
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void S08_S09_S11_S12_S15_S16_largerScopesKeepTheRules(Scope scope) {
        EXPLORER.assertRulesHoldAsFarAsExplored(scope);
    }

    static Stream<Scope> S08_S09_S11_S12_S15_S16_largerScopesKeepTheRules() {
        Option[] all = {Option.HELD, Option.LIMIT, Option.WITHDRAWAL, Option.CLOSE};
        return Stream.of(
                Scope.of(1, all).faults(3, Fault.values()),
                Scope.of(2, all).faults(2, Fault.values()),
                Scope.of(2, Option.LOCAL_QUEUE, Option.HELD, Option.LIMIT, Option.WITHDRAWAL, Option.CLOSE)
                        .faults(2, Fault.values()),
                Scope.of(3, Option.HELD, Option.WITHDRAWAL, Option.CLOSE).faults(1, Fault.values()),
                Scope.of(3, Option.LOCAL_QUEUE, Option.HELD, Option.WITHDRAWAL).faults(1, Fault.values()));
    }

    @ParameterizedTest
    @MethodSource
    void aDefectIsFound(Defect<Scope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<Scope>> aDefectIsFound() {
        Scope held = Scope.of(1, Option.HELD);
        return Stream.of(
                new Defect<>(
                        "a hint during an attempt is forgotten",
                        "S11",
                        held.with((state, event) ->
                                state.phase() instanceof Attempting && event instanceof AcquireEvent.Hint
                                        ? new Step(state, List.of())
                                        : AcquireState.on(state, event))),
                new Defect<>(
                        "a late grant is not given back",
                        "S08",
                        Scope.of(1, Option.WITHDRAWAL).with(without(effect -> effect == AcquireEffect.Plain.DISCARD))),
                new Defect<>(
                        "a grant that has ended is not given back",
                        "S11",
                        Scope.of(1)
                                .faults(1, Fault.GRANT_ENDED)
                                .with(without(effect -> effect == AcquireEffect.Plain.DISCARD))),
                new Defect<>(
                        "a waiter that gives up stays queued",
                        "S08",
                        Scope.of(1, Option.HELD, Option.WITHDRAWAL)
                                .with(without(effect -> effect instanceof AcquireEffect.Remove))),
                new Defect<>(
                        "a withdrawal forgets the pending attempt",
                        "NOT_SENT is impossible in ENDED",
                        Scope.of(1, Option.WITHDRAWAL).with((state, event) -> {
                            Step step = AcquireState.on(state, event);
                            return event == AcquireEvent.Plain.WITHDRAW
                                            && step.state().phase() instanceof Ending
                                    ? new Step(
                                            in(state, PlainPhase.ENDED),
                                            List.of(AcquireEffect.Plain.LEAVE_CLIENT, AcquireEffect.PlainEnd.WITHDRAWN))
                                    : step;
                        })),
                new Defect<>(
                        "a withdrawal removes the contender during an attempt",
                        "SPI",
                        Scope.of(1, Option.WITHDRAWAL).with((state, event) -> {
                            Step step = AcquireState.on(state, event);
                            return event == AcquireEvent.Plain.WITHDRAW
                                            && step.state().phase() instanceof Ending
                                    ? new Step(
                                            step.state(),
                                            List.of(
                                                    new AcquireEffect.Remove(state.contender()),
                                                    AcquireEffect.PlainEnd.WITHDRAWN))
                                    : step;
                        })),
                new Defect<>(
                        "a hint during an attempt leads to another one at once",
                        "SPI",
                        held.with((state, event) ->
                                state.phase() instanceof Attempting && event instanceof AcquireEvent.Hint
                                        ? new Step(state, List.of(new AcquireEffect.Attempt(state.contender())))
                                        : AcquireState.on(state, event))),
                new Defect<>(
                        "a displaced contender is used again",
                        "SPI",
                        Scope.of(1).faults(1, Fault.DISPLACED).with((state, event) -> {
                            Step step = AcquireState.on(state, event);
                            return event instanceof AcquireEvent.Displaced
                                    ? new Step(
                                            new AcquireState(
                                                    state.policy(),
                                                    step.state().phase(),
                                                    state.contender(),
                                                    step.state().history(),
                                                    null),
                                            List.of(AcquireEffect.Attempt.FIRST))
                                    : step;
                        })),
                new Defect<>(
                        "a grant after the end is delivered",
                        "S09",
                        Scope.of(1, Option.WITHDRAWAL)
                                .with((state, event) -> state.phase() instanceof Ending
                                                && event == AcquireEvent.Plain.GRANTED
                                        ? new Step(in(state, PlainPhase.ENDED), List.of(AcquireEffect.Plain.DELIVER))
                                        : AcquireState.on(state, event))),
                new Defect<>(
                        "an operation that ends while it joins the local queue stays in it",
                        "S17",
                        Scope.of(1, Option.LOCAL_QUEUE, Option.CLOSE)
                                .with(without(effect -> effect == AcquireEffect.Plain.LEAVE_QUEUE))),
                new Defect<>(
                        "an operation that becomes the first while it joins the local queue does not notice",
                        "S11",
                        Scope.of(2, Option.LOCAL_QUEUE)
                                .with((state, event) -> state.phase() == PlainPhase.JOINING
                                                && event instanceof AcquireEvent.FirstInQueue
                                        ? new Step(state, List.of())
                                        : AcquireState.on(state, event))),
                new Defect<>(
                        "a close before the start is forgotten",
                        "S16",
                        Scope.of(1, Option.CLOSE)
                                .with((state, event) ->
                                        state.phase() == PlainPhase.NEW && event == AcquireEvent.Plain.CLOSE
                                                ? new Step(state, List.of())
                                                : AcquireState.on(state, event))),
                new Defect<>(
                        "an attempt is sent though its operation has ended since it was decided",
                        "S16",
                        Scope.of(1, Option.CLOSE).without(ShellCheck.OPEN_AT_ATTEMPT)),
                new Defect<>(
                        "a result after the begin of the close counts",
                        "S16",
                        Scope.of(1, Option.HELD, Option.CLOSE).without(ShellCheck.CLOSE_AT_RESULT)),
                new Defect<>(
                        "an operation without a limit behind another one does not hear of an outage",
                        "S15",
                        Scope.of(2, Option.LOCAL_QUEUE, Option.LIMIT_OF_FIRST)
                                .faults(1, Fault.OUTAGE)
                                .with((state, event) -> event instanceof AcquireEvent.StoreSilent
                                        ? new Step(state, List.of())
                                        : AcquireState.on(state, event))),
                new Defect<>(
                        "a wait in the local queue ends behind any failure",
                        "S15",
                        Scope.of(2, Option.LOCAL_QUEUE, Option.LIMIT_OF_FIRST)
                                .faults(1, Fault.NO_REPLY)
                                .with((state, event) -> AcquireState.on(
                                        state,
                                        event instanceof AcquireEvent.FirstInQueue first && first.storeSilent()
                                                ? new AcquireEvent.FirstInQueue(
                                                        true, AcquireWorld.IN_OUTAGE, AcquireWorld.SILENT)
                                                : event))),
                new Defect<>(
                        "the removal of a grant that has ended ends the pause after it",
                        "S11",
                        Scope.of(1, Option.LOCAL_QUEUE)
                                .faults(2, Fault.GRANT_ENDED)
                                .with((state, event) -> AcquireState.on(
                                        state.phase() instanceof BackingOff pause
                                                ? in(state, new BackingOff(pause.until(), false))
                                                : state,
                                        event))),
                new Defect<>(
                        "a newcomer does not wait for the local queue",
                        "S12",
                        Scope.of(2, Option.LOCAL_QUEUE)
                                .with((state, event) -> event == AcquireEvent.Plain.JOINED_BEHIND_OTHERS
                                        ? AcquireState.on(
                                                state,
                                                new AcquireEvent.JoinedAsFirst(
                                                        state.policy().started()))
                                        : AcquireState.on(state, event))));
    }

    private static AcquireState in(AcquireState state, AcquireState.Phase phase) {
        return new AcquireState(state.policy(), phase, state.contender(), state.history(), state.selfWaitAt());
    }

    private static BiFunction<AcquireState, AcquireEvent, Step> without(Predicate<AcquireEffect> missing) {
        return (state, event) -> {
            Step step = AcquireState.on(state, event);
            return new Step(
                    step.state(),
                    step.effects().stream().filter(missing.negate()).toList());
        };
    }
}
