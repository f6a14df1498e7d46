// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.explorer.World;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Phase;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Step;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/**
 * Takes every event in every state that a contender can reach, with two connections and two predecessors. Checks what must be
 * true of each step, and that the diagram in {@code docs/protocols/zookeeper.md} shows these steps. To write the diagram again,
 * run this test with {@code -Dupdate.docs}.
 */
class ZooKeeperProtocolPageTest {
    private static final Set<Class<? extends Phase>> ATTEMPTING = Set.of(
            ZooKeeperContenderState.Connecting.class,
            ZooKeeperContenderState.Creating.class,
            ZooKeeperContenderState.Finding.class,
            ZooKeeperContenderState.Reading.class,
            ZooKeeperContenderState.Listing.class,
            ZooKeeperContenderState.Watching.class);
    private static final Set<Class<? extends Phase>> ENDING = Set.of(
            ZooKeeperContenderState.Withdrawing.class,
            ZooKeeperContenderState.Tracing.class,
            ZooKeeperContenderState.Removing.class,
            ZooKeeperContenderState.RemovalDeferred.class);

    private static final Map<Code, KeeperException> FAILURES = new EnumMap<>(Code.class);
    private static final TransitionGraph<ZooKeeperContenderState, ZooKeeperContenderEvent, ZooKeeperContenderEffect>
            GRAPH = graph();

    private static TransitionGraph<ZooKeeperContenderState, ZooKeeperContenderEvent, ZooKeeperContenderEffect> graph() {
        List<ZooKeeperContenderEvent> events = events();
        return TransitionGraph.of(
                List.of(ZooKeeperContenderState.initial("/a", "own-lock-", true)),
                state -> events,
                ZooKeeperContenderState::on,
                Step::state,
                Step::effects,
                ZooKeeperProtocolPageTest::withFewRounds);
    }

    private static List<ZooKeeperContenderEvent> events() {
        List<ZooKeeperContenderEvent> events = new ArrayList<>(List.of(
                new ZooKeeperContenderEvent.Attempt(),
                new ZooKeeperContenderEvent.End(),
                new ZooKeeperContenderEvent.Abandon(),
                new ZooKeeperContenderEvent.SessionReady(),
                new ZooKeeperContenderEvent.NoSession(failure(Code.CONNECTIONLOSS)),
                new ZooKeeperContenderEvent.Created("/a/own-lock-0000000003", 42),
                new ZooKeeperContenderEvent.NodeRead(42),
                new ZooKeeperContenderEvent.Removed(true),
                new ZooKeeperContenderEvent.Removed(false),
                new ZooKeeperContenderEvent.RemovalDue(),
                new ZooKeeperContenderEvent.SessionEnded(true),
                new ZooKeeperContenderEvent.SessionEnded(false)));
        for (Code code : List.of(Code.CONNECTIONLOSS, Code.NONODE, Code.NODEEXISTS, Code.NOAUTH, Code.SESSIONEXPIRED)) {
            events.add(new ZooKeeperContenderEvent.CreateFailed(failure(code)));
            events.add(new ZooKeeperContenderEvent.ListFailed(failure(code)));
            events.add(new ZooKeeperContenderEvent.ReadFailed(failure(code)));
            events.add(new ZooKeeperContenderEvent.RemovalFailed(failure(code)));
        }
        for (long connection : List.of(1L, 3L)) {
            events.add(new ZooKeeperContenderEvent.Reconnected(connection));
            events.add(new ZooKeeperContenderEvent.WatchDue(connection));
            List<String> queue = List.of("x-lock-0000000001", "y-lock-0000000002", "own-lock-0000000003");
            for (int from = 0; from <= queue.size(); from++) {
                events.add(new ZooKeeperContenderEvent.Listed(queue.subList(from, queue.size()), connection));
            }
            for (String path : List.of("/a/x-lock-0000000001", "/a/y-lock-0000000002", "/a/own-lock-0000000003")) {
                events.add(new ZooKeeperContenderEvent.Watched(path, connection, false));
                events.add(new ZooKeeperContenderEvent.NodeDeleted(path, connection, false));
                events.add(new ZooKeeperContenderEvent.NodeChanged(path));
                for (Code code : List.of(Code.CONNECTIONLOSS, Code.NONODE, Code.NOAUTH)) {
                    events.add(new ZooKeeperContenderEvent.WatchFailed(path, connection, failure(code)));
                }
            }
        }
        return events;
    }

    private static Throwable failure(Code code) {
        return FAILURES.computeIfAbsent(code, KeeperException::create);
    }

    /** Returns the state with at most two rounds: more make no difference to what follows. */
    private static ZooKeeperContenderState withFewRounds(ZooKeeperContenderState state) {
        Phase phase = state.phase();
        if (phase instanceof ZooKeeperContenderState.Creating at) {
            phase = new ZooKeeperContenderState.Creating(at.withLockNode(), Math.min(2, at.rounds()));
        } else if (phase instanceof ZooKeeperContenderState.Finding at) {
            phase = new ZooKeeperContenderState.Finding(Math.min(2, at.rounds()));
        } else if (phase instanceof ZooKeeperContenderState.Reading at) {
            phase = new ZooKeeperContenderState.Reading(at.own(), Math.min(2, at.rounds()));
        } else if (phase instanceof ZooKeeperContenderState.Listing at) {
            phase = new ZooKeeperContenderState.Listing(at.node(), at.queue(), Math.min(2, at.rounds()));
        } else if (phase instanceof ZooKeeperContenderState.Watching at) {
            phase = new ZooKeeperContenderState.Watching(
                    at.node(), at.queue(), at.awaited(), at.failure(), Math.min(2, at.rounds()));
        }
        return new ZooKeeperContenderState(state.identity(), phase);
    }

    @Test
    void aNoticeMayComeAtAnyTime() {
        assertThat(GRAPH.impossible()).isNotEmpty().noneMatch(ZooKeeperContenderEvent.Notice.class::isInstance);
    }

    /** An attempt that has timed out has its outcome from its timeout, so a call that ends it brings none. */
    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        GRAPH.filter(taken -> !(taken.event() instanceof ZooKeeperContenderEvent.End))
                .assertOneOutcome(
                        state -> ATTEMPTING.contains(state.phase().getClass()),
                        event -> event instanceof ZooKeeperContenderEvent.Attempt,
                        ZooKeeperProtocolPageTest::endsAttempt);
        GRAPH.assertOneOutcome(
                state -> ENDING.contains(state.phase().getClass()),
                event -> event instanceof ZooKeeperContenderEvent.End,
                ZooKeeperProtocolPageTest::endsEnd);
    }

    private static boolean endsAttempt(ZooKeeperContenderEffect effect) {
        return effect instanceof ZooKeeperContenderEffect.ReportGranted
                || effect instanceof ZooKeeperContenderEffect.FailAttempt
                || Set.of(
                                Plain.REPORT_WAITING,
                                Plain.REPORT_NODE_DELETED,
                                Plain.REPORT_SESSION_ENDED,
                                Plain.FAIL_RESTLESS)
                        .contains(effect);
    }

    private static boolean endsEnd(ZooKeeperContenderEffect effect) {
        return effect instanceof ZooKeeperContenderEffect.ReportEnded
                || effect instanceof ZooKeeperContenderEffect.FailEnd;
    }

    @Test
    void S11_aReconnectWakesTheCoreWhereItMayWait() {
        Set<String> woken = new TreeSet<>();
        GRAPH.forEach(taken -> {
            if (taken.event() instanceof ZooKeeperContenderEvent.Reconnected
                    && taken.effects().contains(Plain.WAKE_WAITER)) {
                woken.add(World.name(taken.from().phase()));
            }
        });
        assertThat(woken).containsExactly("Head", "Holding", "InDoubt", "Listing", "Queued", "Watching");
    }

    @Test
    void S08_aContenderIsDeregisteredBeforeItIsGone() {
        GRAPH.forEach(taken -> {
            Phase phase = taken.to().phase();
            boolean ends = phase instanceof ZooKeeperContenderState.Gone
                    || phase instanceof ZooKeeperContenderState.Deleted
                    || phase instanceof ZooKeeperContenderState.Idle;
            boolean hadNone = Set.of("Idle", "Connecting", "Deleted", "Gone")
                    .contains(World.name(taken.from().phase()));
            if (!hadNone) {
                assertThat(taken.effects().contains(Plain.DEREGISTER))
                        .as("%s", taken)
                        .isEqualTo(ends);
            }
        });
    }

    /** The page says where the end of the session leads. */
    @Test
    void theDiagramOnThePageShowsTheTransitions() {
        Map<String, Set<String>> arrows = GRAPH.filter(
                        taken -> !(taken.event() instanceof ZooKeeperContenderEvent.SessionEnded)
                                && !taken.to().equals(taken.from()))
                .arrows(ZooKeeperContenderState::phase);
        new ProtocolPage("zookeeper").assertShows(arrows, ProtocolPage.phases(Phase.class));
    }
}
