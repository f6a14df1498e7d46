// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendList;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unwatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.CreateFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.End;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeDeleted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Reconnected;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Removed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Creating;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Finding;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Gone;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.InDoubt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Listing;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Queued;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Removing;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Step;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Tracing;
import io.mortise.lock.zookeeper.queue.ZooKeeperScope.Fault;
import io.mortise.lock.zookeeper.queue.ZooKeeperScope.Variant;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores every interleaving of the ZooKeeper protocol: the production state machine in a modelled world. */
@Tag("once")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class ZooKeeperExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("zookeeper");
    private static final ProtocolExplorer<ZooKeeperScope, ZooKeeperWorld> EXPLORER = new ProtocolExplorer<>(
            ZooKeeperWorld::new, scope -> scope.with(Variant.PRODUCTION), scope -> false, 20_000_000);

    private static final Set<Fault> NONE = Set.of();
    private static final Set<Fault> CUT = Set.of(Fault.CUT, Fault.LATE_EXECUTION, Fault.WATCHES_FORGOTTEN);
    private static final Set<Fault> CONNECTED = Set.of(Fault.SLOW_RESPONSE, Fault.OPERATOR, Fault.EXCEPTION);
    private static final Set<Fault> OTHERS =
            Set.of(Fault.SLOW_RESPONSE, Fault.OPERATOR, Fault.EXCEPTION, Fault.DEADLINE);
    private static final Set<Fault> ELECTIONS =
            Set.of(Fault.CUT, Fault.LATE_EXECUTION, Fault.WATCHES_FORGOTTEN, Fault.ELECTION, Fault.LEADER_CUT_OFF);
    private static final Set<Fault> ALL = EnumSet.allOf(Fault.class);

    /** A scope, and the first cell of its row on the page. */
    private record Row(String what, ZooKeeperScope scope) {
        static Row of(String what, String contenders, String clients, int servers, int faults, Set<Fault> possible) {
            return new Row(what, ZooKeeperExplorationTest.scope(contenders, clients, servers, faults, possible));
        }

        @Override
        public String toString() {
            return what;
        }
    }

    private static ZooKeeperScope scope(
            String contenders, String clients, int servers, int faults, Set<Fault> possible) {
        return ZooKeeperScope.of(contenders, clients, servers, faults, possible, true);
    }

    static Stream<Row> S01_S03_S05_S07_S08_S11_everyInterleavingKeepsTheRules() {
        return Stream.of(
                Row.of("2 contenders, 1 client", "00", "0", 1, 0, NONE),
                Row.of("2 contenders, 2 clients", "01", "00", 1, 0, NONE),
                Row.of("2 contenders, 2 clients, one at a follower", "01", "01", 2, 0, NONE),
                Row.of("3 contenders, 1 client", "000", "0", 1, 0, NONE),
                Row.of("2 contenders, 1 client, lost connection", "00", "0", 1, 1, CUT),
                Row.of("2 contenders, 1 client, another fault", "00", "0", 1, 1, OTHERS),
                Row.of("2 contenders, 2 clients, lost connection", "01", "00", 1, 1, CUT),
                Row.of("2 contenders, 2 clients, ELECTION", "01", "00", 1, 1, Set.of(Fault.ELECTION)),
                Row.of("2 contenders, 2 clients, another fault but DEADLINE", "01", "00", 1, 1, CONNECTED),
                new Row(
                        "2 contenders, 2 clients, DEADLINE, nobody gives up",
                        ZooKeeperScope.of("01", "00", 1, 1, Set.of(Fault.DEADLINE), false)),
                new Row("3 contenders, 2 clients, nobody gives up", ZooKeeperScope.of("001", "00", 1, 0, NONE, false)));
    }

    /** Explored without the times after which a waiter asks again: they hide each lost event. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void S01_S03_S05_S07_S08_S11_everyInterleavingKeepsTheRules(Row row) {
        keepsTheRules(row);
    }

    private static void keepsTheRules(Row row) {
        ZooKeeperScope scope = row.scope;
        Exploration<ZooKeeperWorld> explored = EXPLORER.assertRulesHold(scope);
        PAGE.assertShows("| " + row + " |", explored);
        if (scope.faults() == 0) {
            assertThat(explored.situations())
                    .containsKeys("Watching", "Queued", "Head", "Holding", "no lock node again");
        }
        assertThat(explored.situations().containsKey("given up")).isEqualTo(scope.givingUp());
        if (scope.possible().contains(Fault.CUT)) {
            assertThat(explored.situations()).containsKeys("InDoubt", "Finding", "Reading", "Tracing", "Unremoved");
        }
        if (scope.possible().equals(OTHERS)) {
            assertThat(explored.situations()).containsKeys("Withdrawing", "Deleted", "displaced");
        }
        for (Fault fault : ALL) {
            if (!isPossible(scope, fault)) {
                assertThat(explored.situations()).doesNotContainKey(leadsTo(fault));
            } else if (isLargeEnough(scope, fault)) {
                assertThat(explored.situations()).containsKey(leadsTo(fault));
            }
        }
        boolean hasFollower = scope.serverOfClient().contains(1);
        if (hasFollower || scope.servers() == 1) {
            assertThat(explored.situations().containsKey("waits for a deleted node at a follower"))
                    .isEqualTo(hasFollower);
        }
    }

    /** Returns whether the fault is possible, or one that has its effect too. */
    private static boolean isPossible(ZooKeeperScope scope, Fault fault) {
        Set<Fault> equal = switch (fault) {
            case CUT -> Fault.LOSING_CONNECTIONS;
            case ELECTION -> Set.of(Fault.ELECTION, Fault.LEADER_CUT_OFF);
            default -> Set.of(fault);
        };
        return equal.stream().anyMatch(scope.possible()::contains);
    }

    /** Returns whether the scope has all that the effect of a fault needs besides the fault. */
    private static boolean isLargeEnough(ZooKeeperScope scope, Fault fault) {
        int clients = scope.serverOfClient().size();
        int contenders = scope.clientOfContender().size();
        return switch (fault) {
            case LATE_EXECUTION -> contenders > clients;
            case WATCHES_FORGOTTEN, LEADER_CUT_OFF -> contenders > 1;
            case ELECTION -> clients > 1;
            default -> true;
        };
    }

    /** Returns a situation that the fault leads to, and that does not occur without it. */
    private static String leadsTo(Fault fault) {
        return switch (fault) {
            case CUT -> "in doubt on another connection";
            case LATE_EXECUTION -> "a list misses a create that was in doubt before";
            case WATCHES_FORGOTTEN -> "an event is lost with its watch";
            case ELECTION -> "nobody is connected";
            case LEADER_CUT_OFF -> "waits for a deleted node at a cut-off leader";
            case SLOW_RESPONSE -> "a grant comes too late for its attempt";
            case DEADLINE -> "the queue has a node of an ended session";
            case OPERATOR -> "a holder's node is deleted";
            case EXCEPTION -> "in doubt about a create whose response arrives";
            case PAUSE -> "an event waits for a thread that stands still";
        };
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    @Tag("long")
    void S01_S03_S05_S07_S08_S11_everyInterleavingOfMoreKeepsTheRules(Row row) {
        keepsTheRules(row);
    }

    static Stream<Row> S01_S03_S05_S07_S08_S11_everyInterleavingOfMoreKeepsTheRules() {
        return Stream.of(
                Row.of("3 contenders, 2 clients", "001", "00", 1, 0, NONE),
                Row.of("2 contenders, 1 client, 2 servers, lost connection", "00", "0", 2, 1, CUT),
                Row.of("2 contenders, 2 clients, DEADLINE", "01", "00", 1, 1, Set.of(Fault.DEADLINE)),
                new Row(
                        "2 contenders, 2 clients, 2 servers, LEADER_CUT_OFF, nobody gives up",
                        ZooKeeperScope.of("01", "00", 2, 1, Set.of(Fault.LEADER_CUT_OFF), false)),
                Row.of("1 contender, 2 faults", "0", "0", 2, 2, ALL));
    }

    /** For {@code ./verify --deep}: minutes, and gigabytes of memory. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    @EnabledIfSystemProperty(named = "mortise.explore", matches = "deep")
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void S01_S03_S05_S07_S08_S11_largerScopesKeepTheRules(Row row) {
        EXPLORER.assertRulesHoldAsFarAsExplored(row.scope);
    }

    static Stream<Row> S01_S03_S05_S07_S08_S11_largerScopesKeepTheRules() {
        return Stream.of(
                Row.of("2 contenders, 2 clients, 2 servers, lost connection or election", "01", "00", 2, 1, ELECTIONS),
                Row.of("2 contenders, 2 clients, one at a follower, any fault", "01", "01", 2, 1, ALL),
                Row.of("3 contenders, 1 client, OPERATOR", "000", "0", 1, 1, Set.of(Fault.OPERATOR)),
                Row.of("3 contenders, 1 client, SLOW_RESPONSE", "000", "0", 1, 1, Set.of(Fault.SLOW_RESPONSE)),
                Row.of("3 contenders, 1 client, CUT", "000", "0", 1, 1, Set.of(Fault.CUT)),
                Row.of("3 contenders, 1 client, DEADLINE", "000", "0", 1, 1, Set.of(Fault.DEADLINE)),
                Row.of("2 contenders, 1 client, 2 faults", "00", "0", 2, 2, ALL));
    }

    /** The exploration is worth what it finds: each defect is one that the protocol could have, or has had. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectIsFound(Defect<ZooKeeperScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    /** Needs a hundred thousand states. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    @Tag("long")
    void aRareDefectIsFound(Defect<ZooKeeperScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    /** Follows what the exploration printed when it found the defect (ADR 0077), in a scope with three faults. */
    @Test
    void S08_aLostCreateIsLookedForAfterAWriteNotAfterASync() {
        EXPLORER.assertFinds(
                new Defect<>(
                        "a lost create is looked for after a sync, to which a cut-off leader replies",
                        "S08: all contenders have ended, and the queue has [#01",
                        scope("0", "0", 2, 3, Set.of(Fault.OPERATOR, Fault.LEADER_CUT_OFF, Fault.CUT))
                                .with(new Variant(ZooKeeperContenderState::on, true, RequestKind.SYNC))),
                """
                        1. contender 0 makes its first attempt
                        2. server 0 executes CREATE /a/#00-x-lock- of contender 0
                        3. server 0 executes LIST /a of contender 0
                        4. client 0 receives NONODE  [] for CREATE /a/#00-x-lock- of contender 0
                        5. server 0 executes CREATE_WITH_LOCK_NODE /a/#00-x-lock- of contender 0
                        6. client 0 receives OK  [] for LIST /a of contender 0
                        7. client 0 receives OK /a/#00-x-lock-0000000000 [] for CREATE_WITH_LOCK_NODE /a/#00-x-lock- of contender 0
                        8. an operator deletes #00-x-lock-0000000000
                        9. server 0 executes LIST /a of contender 0
                        10. client 0 receives OK  [] for LIST /a of contender 0
                        11. the servers elect a leader, of which server 1, which is cut off, does not hear
                        12. contender 0 makes its first attempt
                        13. contender 0 gives up
                        14. client 0 connects to server 0 after transaction 1000000000000003, which reports []
                        15. server 0 executes CREATE /a/#01-x-lock- of contender 0
                        16. the connection of client 0 is cut
                        17. client 0 connects to server 1 after transaction 1000000000000003, which reports []
                        18. server 1 executes SYNC /a of contender 0
                        19. server 1 executes LIST /a of contender 0
                        20. client 0 receives OK  [] for SYNC /a of contender 0
                        21. client 0 receives OK  [] for LIST /a of contender 0
                        22. client 0 deletes the unused lock node
                        23. the cut-off leader steps down
                        24. client 0 connects to server 0 after transaction 1000000000000004, which reports []
                """);
    }

    static Stream<Defect<ZooKeeperScope>> aDefectIsFound() {
        return Stream.of(
                defect(
                        "a loss is not reported",
                        "S07",
                        scope("0", "0", 1, 1, Set.of(Fault.OPERATOR)),
                        without(Plain.REPORT_LOSS::equals)),
                defect(
                        "a loss is reported after the release",
                        "S07",
                        scope("0", "0", 1, 0, NONE),
                        on(
                                NodeDeleted.class,
                                (state, event) -> state.phase() instanceof Removing
                                        ? new Step(state, List.of(Plain.REPORT_LOSS))
                                        : ZooKeeperContenderState.on(state, event))),
                defect(
                        "a create counts as refused if ZooKeeper's client throws an exception",
                        "CreateFailed",
                        scope("0", "0", 1, 1, Set.of(Fault.EXCEPTION)),
                        on(
                                CreateFailed.class,
                                (state, event) -> ZooKeeperContenderState.on(
                                        state,
                                        ((CreateFailed) event).failure() instanceof KeeperException
                                                ? event
                                                : new CreateFailed(KeeperException.create(Code.NOAUTH))))),
                defect(
                        "the server's refusal of a create whose sending threw an exception is impossible",
                        "CreateFailed",
                        scope("0", "0", 1, 1, Set.of(Fault.EXCEPTION)),
                        on(CreateFailed.class, (state, event) -> {
                            if (state.phase() instanceof InDoubt || state.phase() instanceof Finding) {
                                throw new IllegalStateException(event + " is impossible in " + state.phase());
                            }
                            return ZooKeeperContenderState.on(state, event);
                        })),
                defect(
                        "an exception is ignored if the response to the create is faster",
                        "S11",
                        scope("00", "0", 1, 1, Set.of(Fault.EXCEPTION)),
                        on(
                                CreateFailed.class,
                                (state, event) -> state.phase() instanceof Listing
                                        ? new Step(state, List.of())
                                        : ZooKeeperContenderState.on(state, event))),
                defect(
                        "a create without a response counts as not executed",
                        "S08",
                        scope("0", "0", 1, 1, Set.of(Fault.CUT)),
                        (state, event) -> ZooKeeperContenderState.on(
                                state,
                                event instanceof CreateFailed failed && failed.mayHaveCreated()
                                        ? new CreateFailed(KeeperException.create(Code.NOAUTH))
                                        : event)),
                defect(
                        "a lost create is looked for without a write before",
                        "S08",
                        scope("0", "0", 2, 1, Set.of(Fault.CUT)),
                        ZooKeeperExplorationTest::withoutBarrier),
                defect(
                        "a withdrawal does not wait for the create",
                        "S08",
                        scope("0", "0", 1, 1, Set.of(Fault.SLOW_RESPONSE)),
                        (state, event) -> state.phase() instanceof Creating && event instanceof End
                                ? new Step(
                                        new ZooKeeperContenderState(state.identity(), new Gone()),
                                        List.of(Plain.DEREGISTER, new ReportEnded(false)))
                                : ZooKeeperContenderState.on(state, event)),
                defect(
                        "a removal without a response counts as done",
                        "S05",
                        scope("0", "0", 1, 1, Set.of(Fault.CUT)),
                        on(
                                RemovalFailed.class,
                                (state, event) -> ZooKeeperContenderState.on(state, new Removed(false)))),
                defect(
                        "a withdrawal leaves its watches",
                        "S10",
                        scope("00", "0", 1, 0, NONE),
                        without(effect -> effect instanceof Unwatch)),
                defect(
                        "nobody deletes the nodes of unused locks",
                        "S17",
                        scope("00", "0", 1, 0, NONE),
                        without(Plain.LOCK_NODE_UNUSED::equals)),
                defect(
                        "a wake-up is ignored",
                        "S11",
                        scope("01", "00", 1, 0, NONE),
                        without(Plain.WAKE_WAITER::equals)),
                defect(
                        "no wake-up on a new connection",
                        "S11",
                        scope("00", "0", 1, 1, CUT),
                        (state, event) -> event instanceof Reconnected
                                ? new Step(state, List.of())
                                : ZooKeeperContenderState.on(state, event)),
                defect(
                        "the deletion of the own node is ignored",
                        "S01",
                        scope("00", "0", 1, 1, OTHERS),
                        (state, event) -> state.phase() instanceof Queued queued
                                        && event instanceof NodeDeleted deleted
                                        && deleted.path().equals(queued.node().path())
                                ? new Step(state, List.of())
                                : ZooKeeperContenderState.on(state, event)),
                defect(
                        "a release that deletes the node says that there was none",
                        "S05",
                        scope("0", "0", 1, 0, NONE),
                        on(Removed.class, (state, event) -> ZooKeeperContenderState.on(state, new Removed(false)))),
                defect(
                        "a removal that finds no node says that it deleted it",
                        "S05",
                        scope("0", "0", 1, 1, Set.of(Fault.OPERATOR)),
                        on(Removed.class, (state, event) -> ZooKeeperContenderState.on(state, new Removed(true)))),
                new Defect<>(
                        "a server ends a session before its deadline, as after a cut-off leader's reply to a sync",
                        "S01",
                        ZooKeeperScope.of("01", "00", 1, 1, Set.of(Fault.DEADLINE), false)
                                .with(new Variant(ZooKeeperContenderState::on, false, RequestKind.COMMIT_NO_OP))));
    }

    static Stream<Defect<ZooKeeperScope>> aRareDefectIsFound() {
        return Stream.of(defect(
                "an event on a new connection is the grant",
                "S01",
                ZooKeeperScope.of("00", "0", 1, 2, Set.of(Fault.CUT, Fault.OPERATOR), false),
                on(
                        NodeDeleted.class,
                        (state, event) -> ZooKeeperContenderState.on(
                                watchedOn(state, ((NodeDeleted) event).connection()), event))));
    }

    private static Defect<ZooKeeperScope> defect(
            String name,
            String rule,
            ZooKeeperScope scope,
            BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, Step> machine) {
        return new Defect<>(name, rule, scope.with(Variant.of(machine)));
    }

    private static BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, Step> on(
            Class<? extends ZooKeeperContenderEvent> type,
            BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, Step> wrong) {
        return (state, event) ->
                type.isInstance(event) ? wrong.apply(state, event) : ZooKeeperContenderState.on(state, event);
    }

    private static BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, Step> without(
            Predicate<ZooKeeperContenderEffect> dropped) {
        return (state, event) -> {
            Step step = ZooKeeperContenderState.on(state, event);
            return new Step(
                    step.state(),
                    step.effects().stream().filter(dropped.negate()).toList());
        };
    }

    private static Step withoutBarrier(ZooKeeperContenderState state, ZooKeeperContenderEvent event) {
        Step step = ZooKeeperContenderState.on(state, event);
        boolean seeks = step.state().phase() instanceof Finding || step.state().phase() instanceof Tracing;
        return new Step(
                step.state(),
                step.effects().stream()
                        .map(each -> seeks && each instanceof SendList ? new SendList(false) : each)
                        .toList());
    }

    private static ZooKeeperContenderState watchedOn(ZooKeeperContenderState state, long connection) {
        return state.phase() instanceof Queued queued
                ? new ZooKeeperContenderState(
                        state.identity(), queued.with(queued.queue().withOwnWatch(connection)))
                : state;
    }
}
