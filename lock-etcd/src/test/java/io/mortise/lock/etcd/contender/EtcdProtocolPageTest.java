// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.LeaveQueue;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.Plain;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendPut;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendWithdrawal;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.End;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Execution;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Notice;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Position;
import io.mortise.lock.etcd.contender.EtcdContenderState.Attempting;
import io.mortise.lock.etcd.contender.EtcdContenderState.Phase;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.explorer.ProtocolPage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Takes every event in every state that a contender can reach, with two epochs. Checks what must be true of each step, and that
 * the diagram in {@code docs/protocols/etcd.md} shows these steps. To write the diagram again, run this test with
 * {@code -Dupdate.docs}.
 */
class EtcdProtocolPageTest {
    private static final ProtocolPage PAGE = new ProtocolPage("etcd");
    private static final Set<Class<? extends Phase>> ENDING = Set.of(
            EtcdContenderState.Removing.class,
            EtcdContenderState.LeasingDelay.class,
            EtcdContenderState.Moving.class,
            EtcdContenderState.AwaitingSessionRemoval.class);
    private static final List<String> ORDER = Stream.of(
                    "Idle Joining AwaitingTurn Unqueued Putting Reading Confirming GivingWay Queued Holding Deleted",
                    "Removing LeasingDelay Moving Unremoved SessionOver AwaitingSessionRemoval Gone")
            .flatMap(names -> Arrays.stream(names.split(" ")))
            .toList();
    private static final List<Taken> REACHABLE = explore();

    private record Taken(EtcdContenderState from, EtcdContenderEvent event, EtcdContenderState.Step step) {
        String phaseBefore() {
            return from.phase().getClass().getSimpleName();
        }

        Phase after() {
            return step.state().phase();
        }

        boolean has(Predicate<EtcdContenderEffect> wanted) {
            return step.effects().stream().anyMatch(wanted);
        }
    }

    private static List<EtcdContenderEvent> events() {
        Throwable failure = new BackendRefusedException("as planned");
        ContenderKey ahead = new ContenderKey(EtcdKeyLayout.bytes("a/1"), 3);
        List<EtcdContenderEvent> events = new ArrayList<>(List.of(
                new EtcdContenderEvent.Abandon(),
                new EtcdContenderEvent.NoSession(failure),
                new EtcdContenderEvent.GrantNotReported(failure),
                new EtcdContenderEvent.KeyNotPut(),
                new EtcdContenderEvent.KeyGone(),
                new EtcdContenderEvent.GaveWay(),
                new EtcdContenderEvent.Removed(true),
                new EtcdContenderEvent.Removed(false),
                new EtcdContenderEvent.LeaseGranted(9),
                new EtcdContenderEvent.Moved(true),
                new EtcdContenderEvent.Moved(false),
                new EtcdContenderEvent.RemovalFailed(failure),
                new EtcdContenderEvent.SessionRemoved(),
                new EtcdContenderEvent.SessionNotRemoved(failure),
                new EtcdContenderEvent.LockTaken(),
                new EtcdContenderEvent.NotSent(),
                new EtcdContenderEvent.FirstInQueue(),
                new EtcdContenderEvent.KeyDeleted(),
                new EtcdContenderEvent.WatchDue(),
                new EtcdContenderEvent.SessionEnded()));
        for (Position position : List.of(Position.behind(null, 1), Position.behind(ahead, 2))) {
            events.add(new EtcdContenderEvent.KeyPut(5, position));
            events.add(new EtcdContenderEvent.OwnKeyFound(5, position));
            events.add(new EtcdContenderEvent.PositionRead(position));
            events.add(new EtcdContenderEvent.ResultDelivered(position));
        }
        for (Execution execution : Execution.values()) {
            events.add(new EtcdContenderEvent.AcquireFailed(execution, failure));
        }
        for (long epoch : List.of(1L, 2L)) {
            events.add(new EtcdContenderEvent.Attempt(epoch));
            events.add(new End(epoch));
            events.add(new EtcdContenderEvent.EndAfter(Duration.ofSeconds(9), epoch));
            events.add(new EtcdContenderEvent.Joined(epoch));
            events.add(new EtcdContenderEvent.InTurn(epoch));
            events.add(new EtcdContenderEvent.NoKeyFound(epoch));
            events.add(new EtcdContenderEvent.OtherKeyFound(epoch));
        }
        return events;
    }

    private static List<Taken> explore() {
        List<Taken> taken = new ArrayList<>();
        List<EtcdContenderEvent> events = events();
        Set<EtcdContenderState> known =
                new HashSet<>(Set.of(EtcdContenderState.initial(true), EtcdContenderState.initial(false)));
        Deque<EtcdContenderState> open = new ArrayDeque<>(known);
        while (!open.isEmpty()) {
            EtcdContenderState from = open.remove();
            for (EtcdContenderEvent event : events) {
                try {
                    EtcdContenderState.Step step = EtcdContenderState.on(from, event);
                    taken.add(new Taken(from, event, step));
                    EtcdContenderState next = withFewRounds(step.state());
                    if (known.add(next)) {
                        open.add(next);
                    }
                } catch (IllegalStateException e) {
                    assertThat(event)
                            .as("a notice may come at any time: %s", e.getMessage())
                            .isNotInstanceOf(Notice.class);
                }
            }
        }
        return taken;
    }

    /** Returns the state with at most two rounds: more make no difference to what follows. */
    private static EtcdContenderState withFewRounds(EtcdContenderState state) {
        Phase phase = state.phase();
        if (phase instanceof EtcdContenderState.Putting at) {
            phase = new EtcdContenderState.Putting(at.epoch(), Math.min(2, at.rounds()));
        } else if (phase instanceof EtcdContenderState.Reading at) {
            phase = new EtcdContenderState.Reading(Math.min(2, at.rounds()));
        } else if (phase instanceof EtcdContenderState.GivingWay at) {
            phase = new EtcdContenderState.GivingWay(at.revision(), Math.min(2, at.rounds()));
        }
        return new EtcdContenderState(state.mayWait(), phase, state.inDoubt(), state.mayHaveKey());
    }

    @Test
    void everyPhaseIsReached() {
        Set<String> reached = new TreeSet<>();
        REACHABLE.forEach(taken -> reached.add(taken.phaseBefore()));
        assertThat(reached).containsExactlyInAnyOrderElementsOf(phases());
    }

    private static List<String> phases() {
        return Arrays.stream(EtcdContenderState.class.getDeclaredClasses())
                .filter(type -> type.isRecord() && Phase.class.isAssignableFrom(type))
                .map(Class::getSimpleName)
                .sorted(Comparator.comparing(ORDER::indexOf))
                .toList();
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        for (Taken taken : REACHABLE) {
            boolean attempts = taken.event instanceof EtcdContenderEvent.Attempt
                    || taken.event instanceof EtcdContenderEvent.GrantNotReported;
            boolean ends = taken.event instanceof End || taken.event instanceof EtcdContenderEvent.EndAfter;
            assertOutcomes(taken, phase -> phase instanceof Attempting, attempts, EtcdProtocolPageTest::endsAttempt);
            assertOutcomes(taken, phase -> ENDING.contains(phase.getClass()), ends, EtcdProtocolPageTest::endsEnd);
        }
    }

    private static void assertOutcomes(
            Taken taken, Predicate<Phase> pending, boolean called, Predicate<EtcdContenderEffect> outcome) {
        boolean isDue = (pending.test(taken.from.phase()) || called) && !pending.test(taken.after());
        assertThat(taken.step.effects().stream().filter(outcome).count())
                .as("%s", taken)
                .isEqualTo(isDue ? 1 : 0);
    }

    /** A call would be pending for ever. Its outcome is that of the effect that could not be performed. */
    @Test
    void S08_anEffectThatThrowsEndsTheCallThatWaitsForIt() {
        Error error = new StackOverflowError("as planned");
        for (Taken taken : REACHABLE) {
            List<EtcdContenderEffect> failures = taken.step.effects().stream()
                    .map(effect -> EtcdContender.failed(effect, error))
                    .filter(Objects::nonNull)
                    .flatMap(event -> EtcdContenderState.on(taken.step.state(), event).effects().stream())
                    .toList();
            boolean begins =
                    !taken.phaseBefore().equals(taken.after().getClass().getSimpleName());
            if (begins && taken.after() instanceof Attempting
                    || taken.has(effect -> effect instanceof EtcdContenderEffect.ReportGranted)) {
                assertThat(failures).as("%s", taken).anyMatch(EtcdProtocolPageTest::endsAttempt);
            }
            if (begins && ENDING.contains(taken.after().getClass())) {
                assertThat(failures).as("%s", taken).anyMatch(EtcdProtocolPageTest::endsEnd);
            }
            if (taken.has(Plain.START_CLEANUP::equals)) {
                assertThat(failures).as("a put in doubt: %s", taken).contains(Plain.END_SESSION);
            }
        }
    }

    private static boolean endsAttempt(EtcdContenderEffect effect) {
        return effect instanceof EtcdContenderEffect.ReportGranted
                || effect instanceof EtcdContenderEffect.FailAttempt
                || Set.of(
                                Plain.REPORT_WAITING,
                                Plain.REPORT_KEY_DELETED,
                                Plain.REPORT_SESSION_ENDED,
                                Plain.FAIL_RESTLESS,
                                Plain.FAIL_NOT_SENT)
                        .contains(effect);
    }

    private static boolean endsEnd(EtcdContenderEffect effect) {
        return effect instanceof EtcdContenderEffect.ReportEnded || effect instanceof EtcdContenderEffect.FailEnd;
    }

    /** Its slot is then free for the next contender. */
    @Test
    void S17_aContenderLeavesTheQueueWhenItIsGone() {
        for (Taken taken : REACHABLE) {
            boolean joined = !Set.of("Idle", "Gone").contains(taken.phaseBefore());
            boolean leaves = joined && taken.after() instanceof EtcdContenderState.Gone;
            assertThat(taken.has(effect -> effect instanceof LeaveQueue))
                    .as("%s", taken)
                    .isEqualTo(leaves);
        }
    }

    /** The timer that registers the watch may have taken the grant from its list just before the release. */
    @Test
    void S17_onlyAHolderIsWatchedWhenItsTimeHasCome() {
        for (Taken taken : REACHABLE) {
            if (taken.event instanceof EtcdContenderEvent.WatchDue) {
                assertThat(taken.has(Plain.WATCH_AS_HOLDER::equals))
                        .as("%s", taken)
                        .isEqualTo(taken.from.phase() instanceof EtcdContenderState.Holding);
            }
        }
    }

    /** Otherwise a put that is executed late would leave a key for as long as the session lives. */
    @Test
    void S08_aContenderWithAPutInDoubtIsGoneOnlyAfterANewEpochOrWithItsSession() {
        for (Taken taken : REACHABLE) {
            if (taken.from.inDoubt().mayStillExecute() && taken.after() instanceof EtcdContenderState.Gone) {
                assertThat(taken.phaseBefore())
                        .as("%s", taken)
                        .isIn("Removing", "Moving", "AwaitingSessionRemoval", "Gone");
            }
            for (EtcdContenderEffect effect : taken.step.effects()) {
                if (effect instanceof SendWithdrawal withdrawal && taken.event instanceof End end) {
                    assertThat(withdrawal.newEpoch())
                            .as("%s", taken)
                            .isEqualTo(taken.from.inDoubt().highestEpoch() >= end.epoch());
                }
            }
        }
    }

    @Test
    void S08_nothingIsPutAfterTheEnd() {
        for (Taken taken : REACHABLE) {
            if (!(taken.after() instanceof Attempting)) {
                assertThat(taken.has(effect -> effect instanceof SendPut))
                        .as("%s", taken)
                        .isFalse();
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
            if (!(taken.event instanceof EtcdContenderEvent.SessionEnded)
                    && !taken.step.state().equals(taken.from)) {
                String arrow =
                        taken.phaseBefore() + " --> " + taken.after().getClass().getSimpleName();
                labels.computeIfAbsent(arrow, key -> new TreeSet<>())
                        .add(taken.event.getClass().getSimpleName());
            }
        }
        return ProtocolPage.diagram(labels, phases());
    }
}
