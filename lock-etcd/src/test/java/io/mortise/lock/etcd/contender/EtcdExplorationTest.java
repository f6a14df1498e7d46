// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.etcd.contender.EtcdContenderEffect.LeaveQueue;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.Plain;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportEnded;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportGranted;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.RevokeLease;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendMove;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendWithdrawal;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.AcquireFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Attempt;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Execution;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyDeleted;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Moved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.RemovalFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Removed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionEnded;
import io.mortise.lock.etcd.contender.EtcdContenderState.AwaitingSessionRemoval;
import io.mortise.lock.etcd.contender.EtcdContenderState.Gone;
import io.mortise.lock.etcd.contender.EtcdContenderState.Holding;
import io.mortise.lock.etcd.contender.EtcdContenderState.Moving;
import io.mortise.lock.etcd.contender.EtcdContenderState.Phase;
import io.mortise.lock.etcd.contender.EtcdContenderState.Queued;
import io.mortise.lock.etcd.contender.EtcdContenderState.Step;
import io.mortise.lock.etcd.contender.EtcdScope.Fault;
import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.EtcdScope.Variant;
import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores every interleaving of the etcd protocol: the production state machine in a modelled world. */
@Tag("once")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class EtcdExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("etcd");
    private static final ProtocolExplorer<EtcdScope, EtcdWorld> EXPLORER =
            new ProtocolExplorer<>(EtcdWorld::new, scope -> scope.with(Variant.PRODUCTION), scope -> false, 20_000_000);

    private static final Set<Fault> NONE = Set.of();
    private static final Set<Fault> ALL = EnumSet.complementOf(EnumSet.of(Fault.NO_REPLY_TO_GIVING_WAY));
    private static final Set<Fault> UNKNOWN = Set.of(Fault.NO_REPLY, Fault.FULL);
    private static final EtcdScope ONE_NO_REPLY = scope("0", "w", 1, Set.of(Fault.NO_REPLY));
    private static final EtcdScope ONE_DEADLINE = scope("0", "w", 1, Set.of(Fault.DEADLINE));
    private static final EtcdScope ABANDONED = scope("0", "w", 2, Set.of(Fault.NO_REPLY, Fault.DEADLINE));
    private static final EtcdScope NO_FAULT = scope("00", "ww", 0, NONE);
    private static final EtcdScope DELAYED = scope("0", "d", 2, Set.of(Fault.NO_REPLY, Fault.OPERATOR));
    private static final EtcdScope NO_REPLY = patient("00", "ww", 1, Set.of(Fault.NO_REPLY));
    private static final EtcdScope OPERATOR = patient("00", "ww", 1, Set.of(Fault.OPERATOR));
    private static final EtcdScope DEADLINE = patient("01", "oo", 1, Set.of(Fault.DEADLINE));
    private static final EtcdScope GIVING_WAY = patient("00", "wu", 1, Set.of(Fault.NO_REPLY_TO_GIVING_WAY));
    private static final EtcdScope WATCH_LOST = scope("00", "ww", 1, Set.of(Fault.WATCH_LOST));

    private static EtcdScope scope(String clients, String kinds, int faults, Set<Fault> possible) {
        return EtcdScope.of(clients, kinds, faults, possible, true);
    }

    /** Returns a scope in which no caller gives up. */
    private static EtcdScope patient(String clients, String kinds, int faults, Set<Fault> possible) {
        return EtcdScope.of(clients, kinds, faults, possible, false);
    }

    static Stream<Arguments> S01_S03_S05_S07_S08_S11_everyInterleavingKeepsTheRules() {
        return Stream.of(
                Arguments.of("2 contenders, 1 client", NO_FAULT),
                Arguments.of("3 contenders, 1 client, nobody gives up", patient("000", "www", 0, NONE)),
                Arguments.of(
                        "2 contenders, 1 client, one with a delayed release, nobody gives up",
                        patient("00", "dw", 0, NONE)),
                Arguments.of("2 contenders, 2 clients, the end of a session, nobody gives up before", DEADLINE),
                Arguments.of("1 contender, any fault", scope("0", "w", 1, ALL)),
                Arguments.of("1 contender, delayed release, any fault", scope("0", "d", 1, ALL)),
                Arguments.of("1 contender, two of no reply or a full store", scope("0", "w", 2, UNKNOWN)),
                Arguments.of("1 contender, two of no reply or the end of a session", ABANDONED),
                Arguments.of("1 contender, delayed release, two of no reply or an operator", DELAYED),
                Arguments.of("2 contenders, 1 client, no reply, nobody gives up", NO_REPLY),
                Arguments.of(
                        "2 contenders, 2 clients, one does not wait, nobody gives up", patient("01", "wt", 0, NONE)),
                Arguments.of("2 contenders, 1 client, a lost watch", WATCH_LOST),
                Arguments.of(
                        "2 contenders, 1 client, a lost connection, nobody gives up",
                        patient("00", "ww", 1, Set.of(Fault.CUT))),
                Arguments.of("2 contenders, 1 client, an operator, nobody gives up", OPERATOR));
    }

    /** Explored without the times after which a waiter asks again: they hide each lost event. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void S01_S03_S05_S07_S08_S11_everyInterleavingKeepsTheRules(String what, EtcdScope scope) {
        Exploration<EtcdWorld> explored = EXPLORER.assertRulesHold(scope);
        PAGE.assertShows("| " + what + " |", explored);
        assertReachesEffectsOfFaults(scope, explored);
        explored.assertReaches("abandoned", scope.equals(ABANDONED));
        assertThat(explored.situations()).containsKeys("Holding", "Removing");
        if (scope.kinds().length() > 1) {
            assertThat(explored.situations()).containsKeys("Confirming", "Queued");
        }
        if (scope.kinds().contains("t")) {
            assertThat(explored.situations()).containsKeys("GivingWay");
        }
        if (scope.kinds().contains("d")) {
            assertThat(explored.situations()).containsKeys("LeasingDelay", "Moving");
        }
        if (scope.possible().contains(Fault.NO_REPLY)) {
            assertThat(explored.situations()).containsKeys("Reading", "Unremoved", "new epoch", "new key series");
        }
        if (scope.possible().contains(Fault.DEADLINE)) {
            assertThat(explored.situations()).containsKeys("SessionOver", "AwaitingSessionRemoval");
        }
        if (scope.possible().equals(ALL)) {
            assertThat(explored.situations()).containsKeys("displaced");
        }
        if (scope.equals(OPERATOR)) {
            assertThat(explored.situations()).containsKeys("Deleted", "displaced");
        }
    }

    static Stream<Arguments> S01_S03_S05_S07_S08_S11_everyInterleavingOfTheLongRunKeepsTheRules() {
        return Stream.of(
                Arguments.of(
                        "2 contenders, 2 clients, one with a delayed release, nobody gives up",
                        patient("01", "dw", 0, NONE)),
                Arguments.of(
                        "2 contenders, 2 clients, a restart, nobody gives up",
                        patient("01", "oo", 1, Set.of(Fault.RESTART))),
                Arguments.of(
                        "2 contenders, 2 clients, one does not wait, no reply, nobody gives up",
                        patient("01", "wt", 1, Set.of(Fault.NO_REPLY))),
                Arguments.of(
                        "2 contenders, 2 clients, an operator revokes or deletes a session, nobody gives up before",
                        patient("01", "oo", 1, Set.of(Fault.REVOKED))),
                Arguments.of(
                        "2 contenders, 1 client, one tries twice, no reply to giving way, nobody gives up",
                        GIVING_WAY));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    @Tag("long")
    void S01_S03_S05_S07_S08_S11_everyInterleavingOfTheLongRunKeepsTheRules(String what, EtcdScope scope) {
        Exploration<EtcdWorld> explored = EXPLORER.assertRulesHold(scope);
        PAGE.assertShows("| " + what + " |", explored);
        assertReachesEffectsOfFaults(scope, explored);
    }

    /** Without faults none of their effects is possible, and each possible fault must show its effect. */
    private static void assertReachesEffectsOfFaults(EtcdScope scope, Exploration<EtcdWorld> explored) {
        for (Fault fault : scope.faults() == 0 ? EnumSet.allOf(Fault.class) : scope.possible()) {
            boolean needsAnother =
                    Set.of(Fault.WATCH_LOST, Fault.CUT, Fault.RESTART).contains(fault);
            if (scope.kinds().length() > 1 || !needsAnother) {
                explored.assertReaches(effect(fault), scope.faults() > 0);
            }
        }
    }

    private static String effect(Fault fault) {
        return switch (fault) {
            case NO_REPLY -> "Unremoved";
            case NO_REPLY_TO_GIVING_WAY -> "queued without waiting";
            case CUT -> "watch and reply lost";
            case RESTART -> "all clients in doubt";
            case FULL -> "put by a full store";
            case WATCH_LOST -> "watch opened again";
            case DEADLINE -> "session ended before its deletion";
            case REVOKED -> "session deleted early";
            case OPERATOR -> "held after the deletion of its key";
        };
    }

    /** For {@code ./verify --deep}: minutes, and gigabytes of memory. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    @EnabledIfSystemProperty(named = "mortise.explore", matches = "deep")
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void S01_S03_S05_S07_S08_S11_largerScopesKeepTheRules(String what, EtcdScope scope) {
        EXPLORER.assertRulesHoldAsFarAsExplored(scope);
    }

    static Stream<Arguments> S01_S03_S05_S07_S08_S11_largerScopesKeepTheRules() {
        return Stream.of(
                Arguments.of(
                        "2 contenders, 1 client, the end of a session", patient("00", "ww", 1, Set.of(Fault.DEADLINE))),
                Arguments.of(
                        "2 contenders, 2 clients, the end of a session, one with a delayed release",
                        patient("01", "do", 1, Set.of(Fault.DEADLINE))),
                Arguments.of("2 contenders, 1 client, no reply", scope("00", "ww", 1, Set.of(Fault.NO_REPLY))),
                Arguments.of("2 contenders, 1 client, a lost connection", scope("00", "ww", 1, Set.of(Fault.CUT))),
                Arguments.of("2 contenders, 1 client, any fault", scope("00", "ww", 1, ALL)),
                Arguments.of("3 contenders, 2 clients, nobody gives up", patient("001", "www", 0, NONE)),
                Arguments.of("2 contenders, 2 clients", scope("01", "ww", 0, NONE)),
                Arguments.of("2 contenders, 2 clients, one does not wait", scope("01", "wt", 0, NONE)),
                Arguments.of("2 contenders, 2 clients, a lost watch", patient("01", "ww", 1, Set.of(Fault.WATCH_LOST))),
                Arguments.of("2 contenders, 1 client, a full store", scope("00", "ww", 1, Set.of(Fault.FULL))),
                Arguments.of("3 contenders, 1 client", scope("000", "www", 0, NONE)),
                Arguments.of(
                        "2 contenders, 2 clients, the end of a session",
                        patient("01", "ww", 1, Set.of(Fault.DEADLINE))),
                Arguments.of("2 contenders, 2 clients, any fault", scope("01", "ww", 1, ALL)),
                Arguments.of("2 contenders, one does not wait, any fault", scope("01", "wt", 1, ALL)),
                Arguments.of("2 contenders, 1 client, 2 faults", scope("00", "ww", 2, ALL)));
    }

    /** The exploration is worth what it finds: each is a defect that production's state machine could have, or has had. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectOfTheStateMachineIsFound(Defect<EtcdScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<EtcdScope>> aDefectOfTheStateMachineIsFound() {
        return Stream.of(
                defect(
                        "a put without a reply counts as not executed",
                        "S08",
                        ONE_NO_REPLY,
                        (state, event) -> EtcdContenderState.on(state, never(event, Execution.AT_ANY_TIME))),
                defect(
                        "a put that a full store refused counts as not executed",
                        "S08",
                        scope("0", "w", 1, Set.of(Fault.FULL)),
                        (state, event) -> EtcdContenderState.on(state, never(event, Execution.DONE_OR_NEVER))),
                defect(
                        "a withdrawal starts no new epoch",
                        "S08",
                        ONE_NO_REPLY,
                        changed(effect -> effect instanceof SendWithdrawal ? new SendWithdrawal(false) : effect)),
                defect(
                        "a removal without a reply counts as done",
                        "S08",
                        ONE_NO_REPLY,
                        (state, event) -> EtcdContenderState.on(
                                state, event instanceof RemovalFailed ? new Removed(false) : event)),
                defect(
                        "a deletion is repeated, and the next contender uses the same key",
                        "S05",
                        NO_REPLY,
                        without(Plain.START_KEY_SERIES)),
                defect(
                        "a delayed release starts no new epoch",
                        "S08",
                        scope("0", "d", 1, Set.of(Fault.NO_REPLY)),
                        changed(effect ->
                                effect instanceof SendMove move ? new SendMove(move.leaseId(), false) : effect)),
                defect(
                        "a delayed release of a deleted key leaves a put in doubt",
                        "S08",
                        DELAYED,
                        (state, event) -> state.phase() instanceof Moving moving && event.equals(new Moved(false))
                                ? step(
                                        state,
                                        new Gone(),
                                        new RevokeLease(moving.leaseId()),
                                        new LeaveQueue(moving.wasCounted()),
                                        new ReportEnded(false))
                                : EtcdContenderState.on(state, event)),
                defect(
                        "a woken waiter does not check its position",
                        "S01",
                        NO_FAULT,
                        (state, event) -> state.phase() instanceof Queued queued && event instanceof Attempt
                                ? step(
                                        state,
                                        new Holding(queued.revision()),
                                        Plain.WATCH_AS_HOLDER_LATER,
                                        new ReportGranted(queued.revision()))
                                : EtcdContenderState.on(state, event)),
                defect("a wake-up is ignored", "S11", NO_FAULT, without(Plain.WAKE_WAITER)),
                defect("a removal is not counted", "S17", NO_FAULT, without(Plain.COUNT_REMOVAL)),
                defect("a contender that leaves keeps its turn", "S10", NO_FAULT, without(Plain.UNSUBSCRIBE)),
                defect(
                        "a waiter ignores the deletion of its key",
                        "S11",
                        OPERATOR,
                        (state, event) -> state.phase() instanceof Queued && event instanceof KeyDeleted
                                ? new Step(state, List.of())
                                : EtcdContenderState.on(state, event)),
                defect("a loss is not reported", "S07", OPERATOR, without(Plain.REPORT_LOSS)),
                defect(
                        "a holder never watches its key",
                        "S07",
                        scope("0", "w", 1, Set.of(Fault.OPERATOR)),
                        without(Plain.WATCH_AS_HOLDER)),
                defect(
                        "a waiter does not hear of the end of its session",
                        "S11",
                        ONE_DEADLINE,
                        (state, event) -> event instanceof SessionEnded
                                ? new Step(state, List.of())
                                : EtcdContenderState.on(state, event)),
                defect(
                        "a deletion that the end of the session overtakes is reported as a loss",
                        "S05",
                        ONE_DEADLINE,
                        (state, event) -> state.phase() instanceof AwaitingSessionRemoval && event instanceof Removed
                                ? new Step(state, List.of())
                                : EtcdContenderState.on(state, event)));
    }

    /**
     * The same for what the world has a copy of: the requests, which {@link EtcdModelTest} compares with production's, the watch,
     * and the session.
     */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectBesideTheStateMachineIsFound(Defect<EtcdScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<EtcdScope>> aDefectBesideTheStateMachineIsFound() {
        return Stream.of(
                flaw("a put is executed in any epoch", "S08", ONE_NO_REPLY, Flaw.PUT_IN_ANY_EPOCH),
                flaw(
                        "a withdrawal takes the key of a late put for that of the grant",
                        "S05",
                        DELAYED,
                        Flaw.WITHDRAWAL_OF_ANY_KEY),
                flaw(
                        "a delayed release puts the deleted key of its session again",
                        "S08",
                        scope("0", "d", 2, Set.of(Fault.NO_REPLY, Fault.REVOKED)),
                        Flaw.MOVE_PUTS_SESSION_KEY),
                flaw(
                        "a fencing condition holds during a delayed release",
                        "S03",
                        scope("0", "d", 1, Set.of(Fault.NO_REPLY)),
                        Flaw.FENCING_BY_CREATION),
                flaw("the queue is read before the watch is registered", "S08", NO_FAULT, Flaw.READ_BEFORE_WATCH),
                flaw("a watch that has ended is not opened again", "S11", WATCH_LOST, Flaw.WATCH_STAYS_CLOSED),
                flaw(
                        "a watch that has ended counts as open",
                        "S07",
                        scope("0", "w", 2, Set.of(Fault.OPERATOR, Fault.WATCH_LOST)),
                        Flaw.WATCH_ENDS_UNNOTICED),
                flaw(
                        "a session ends before its deadline, as after a keepalive that a replaced leader has answered",
                        "S01: contender 0 holds",
                        ONE_DEADLINE,
                        Flaw.SESSION_ENDS_EARLY),
                flaw(
                        "the same with two clients, if it is not checked that the holder is the first",
                        "S01: contenders [0, 1] hold",
                        DEADLINE,
                        Flaw.SESSION_ENDS_EARLY,
                        Flaw.HEAD_IS_NOT_CHECKED));
    }

    @Test
    @Tag("long")
    void S05_anAttemptThatGivesWayLateAndDeletesTheNextKeyOfItsSlotIsFound() {
        EXPLORER.assertFinds(flaw("gives way late", "S05", GIVING_WAY, Flaw.GIVE_WAY_WITH_ANY_KEY));
    }

    private static Defect<EtcdScope> defect(
            String name,
            String rule,
            EtcdScope scope,
            BiFunction<EtcdContenderState, EtcdContenderEvent, Step> machine) {
        return new Defect<>(name, rule, scope.with(new Variant(machine, Set.of())));
    }

    private static Defect<EtcdScope> flaw(String name, String rule, EtcdScope scope, Flaw... flaws) {
        return new Defect<>(name, rule, scope.with(new Variant(EtcdContenderState::on, Set.of(flaws))));
    }

    private static EtcdContenderEvent never(EtcdContenderEvent event, Execution execution) {
        return event instanceof AcquireFailed failed && failed.execution() == execution
                ? new AcquireFailed(Execution.NEVER, failed.failure())
                : event;
    }

    private static Step step(EtcdContenderState state, Phase next, EtcdContenderEffect... effects) {
        return new Step(
                new EtcdContenderState(state.mayWait(), next, state.inDoubt(), state.mayHaveKey()), List.of(effects));
    }

    private static BiFunction<EtcdContenderState, EtcdContenderEvent, Step> without(Plain dropped) {
        return (state, event) -> {
            Step step = EtcdContenderState.on(state, event);
            return new Step(
                    step.state(),
                    step.effects().stream().filter(effect -> effect != dropped).toList());
        };
    }

    private static BiFunction<EtcdContenderState, EtcdContenderEvent, Step> changed(
            UnaryOperator<EtcdContenderEffect> change) {
        return (state, event) -> {
            Step step = EtcdContenderState.on(state, event);
            return new Step(step.state(), step.effects().stream().map(change).toList());
        };
    }
}
