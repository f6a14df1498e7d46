// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Phase;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/**
 * Takes every event in every state that a contender can reach, with two connections and two predecessors. Checks what must be
 * true of each step, and that the diagram in {@code docs/protocols/zookeeper.md} shows these steps. To write the diagram again,
 * run this test with {@code -Dupdate.docs}.
 */
class ZooKeeperProtocolPageTest {
    private static final ProtocolPage PAGE = new ProtocolPage("zookeeper");
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
    private static final List<Taken> REACHABLE = explore();

    private record Taken(
            ZooKeeperContenderState from, ZooKeeperContenderEvent event, ZooKeeperContenderState.Step step) {
        String phaseBefore() {
            return from.phase().getClass().getSimpleName();
        }

        String phaseAfter() {
            return step.state().phase().getClass().getSimpleName();
        }
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

    private static List<Taken> explore() {
        List<Taken> taken = new ArrayList<>();
        List<ZooKeeperContenderEvent> events = events();
        ZooKeeperContenderState initial = ZooKeeperContenderState.initial("/a", "own-lock-", true);
        Set<ZooKeeperContenderState> known = new HashSet<>(Set.of(initial));
        Deque<ZooKeeperContenderState> open = new ArrayDeque<>(known);
        while (!open.isEmpty()) {
            ZooKeeperContenderState from = open.remove();
            for (ZooKeeperContenderEvent event : events) {
                try {
                    ZooKeeperContenderState.Step step = ZooKeeperContenderState.on(from, event);
                    taken.add(new Taken(from, event, step));
                    ZooKeeperContenderState next = withFewRounds(step.state());
                    if (known.add(next)) {
                        open.add(next);
                    }
                } catch (IllegalStateException e) {
                    assertThat(event)
                            .as("a notice may come at any time: %s", e.getMessage())
                            .isNotInstanceOf(ZooKeeperContenderEvent.Notice.class);
                }
            }
        }
        return taken;
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
    void everyPhaseIsReached() {
        Set<String> reached = new TreeSet<>();
        REACHABLE.forEach(taken -> reached.add(taken.phaseBefore()));
        assertThat(reached).containsExactlyInAnyOrderElementsOf(phases());
    }

    private static List<String> phases() {
        return Arrays.stream(ZooKeeperContenderState.class.getDeclaredClasses())
                .filter(type -> type.isRecord() && Phase.class.isAssignableFrom(type))
                .map(Class::getSimpleName)
                .sorted(Comparator.comparing(ORDER::indexOf))
                .toList();
    }

    /** An attempt that has timed out has its outcome from its timeout, so a call that ends it brings none. */
    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        for (Taken taken : REACHABLE) {
            if (!(taken.event instanceof ZooKeeperContenderEvent.End)) {
                boolean called = taken.event instanceof ZooKeeperContenderEvent.Attempt;
                assertOutcomes(taken, ATTEMPTING, called, ZooKeeperProtocolPageTest::endsAttempt);
            }
            boolean called = taken.event instanceof ZooKeeperContenderEvent.End;
            assertOutcomes(taken, ENDING, called, ZooKeeperProtocolPageTest::endsEnd);
        }
    }

    private static void assertOutcomes(
            Taken taken,
            Set<Class<? extends Phase>> pending,
            boolean called,
            Predicate<ZooKeeperContenderEffect> outcome) {
        boolean before = pending.contains(taken.from.phase().getClass());
        boolean after = pending.contains(taken.step.state().phase().getClass());
        long outcomes = taken.step.effects().stream().filter(outcome).count();
        assertThat(outcomes).as("%s", taken).isEqualTo((before || called) && !after ? 1 : 0);
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
        for (Taken taken : REACHABLE) {
            if (taken.event instanceof ZooKeeperContenderEvent.Reconnected
                    && taken.step.effects().contains(Plain.WAKE_WAITER)) {
                woken.add(taken.phaseBefore());
            }
        }
        assertThat(woken).containsExactly("Head", "Holding", "InDoubt", "Listing", "Queued", "Watching");
    }

    @Test
    void S08_aContenderIsDeregisteredBeforeItIsGone() {
        for (Taken taken : REACHABLE) {
            Phase phase = taken.step.state().phase();
            boolean ends = phase instanceof ZooKeeperContenderState.Gone
                    || phase instanceof ZooKeeperContenderState.Deleted
                    || phase instanceof ZooKeeperContenderState.Idle;
            boolean hadNone = Set.of("Idle", "Connecting", "Deleted", "Gone").contains(taken.phaseBefore());
            if (!hadNone) {
                assertThat(taken.step.effects().contains(Plain.DEREGISTER))
                        .as("%s", taken)
                        .isEqualTo(ends);
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

    /** Returns the transitions in the order of the phases in the code, without the end of the session. */
    private String diagram() {
        Map<String, Set<String>> labels = new HashMap<>();
        for (Taken taken : REACHABLE) {
            if (!(taken.event instanceof ZooKeeperContenderEvent.SessionEnded)
                    && !taken.step.state().equals(taken.from)) {
                labels.computeIfAbsent(taken.phaseBefore() + " --> " + taken.phaseAfter(), arrow -> new TreeSet<>())
                        .add(taken.event.getClass().getSimpleName());
            }
        }
        return ProtocolPage.diagram(labels, phases());
    }

    private static final List<String> ORDER = List.of(
            "Idle",
            "Connecting",
            "Creating",
            "InDoubt",
            "Finding",
            "Reading",
            "Listing",
            "Watching",
            "Queued",
            "Head",
            "Holding",
            "Deleted",
            "Withdrawing",
            "Tracing",
            "Removing",
            "Unremoved",
            "RemovalDeferred",
            "Gone");
}
