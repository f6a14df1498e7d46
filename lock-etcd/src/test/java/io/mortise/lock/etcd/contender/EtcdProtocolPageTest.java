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
import io.mortise.lock.etcd.contender.EtcdContenderState.Gone;
import io.mortise.lock.etcd.contender.EtcdContenderState.Idle;
import io.mortise.lock.etcd.contender.EtcdContenderState.Phase;
import io.mortise.lock.etcd.contender.EtcdContenderState.Step;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.Transition;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.explorer.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Takes every event in every state that a contender can reach, with two epochs. Checks what must be true of each step, and that
 * the diagram in {@code docs/protocols/etcd.md} shows these steps. To write the diagram again, run this test with
 * {@code -Dupdate.docs}.
 */
class EtcdProtocolPageTest {
    private static final Set<Class<? extends Phase>> ENDING = Set.of(
            EtcdContenderState.Removing.class,
            EtcdContenderState.LeasingDelay.class,
            EtcdContenderState.Moving.class,
            EtcdContenderState.AwaitingSessionRemoval.class);
    private static final TransitionGraph<EtcdContenderState, EtcdContenderEvent, EtcdContenderEffect> GRAPH = graph();

    private static TransitionGraph<EtcdContenderState, EtcdContenderEvent, EtcdContenderEffect> graph() {
        List<EtcdContenderEvent> events = events();
        return TransitionGraph.of(
                List.of(EtcdContenderState.initial(true), EtcdContenderState.initial(false)),
                state -> events,
                EtcdContenderState::on,
                Step::state,
                Step::effects,
                EtcdProtocolPageTest::withFewRounds);
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
    void aNoticeMayComeAtAnyTime() {
        assertThat(GRAPH.impossible()).isNotEmpty().noneMatch(Notice.class::isInstance);
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        GRAPH.assertOneOutcome(
                state -> state.phase() instanceof Attempting,
                event -> event instanceof EtcdContenderEvent.Attempt
                        || event instanceof EtcdContenderEvent.GrantNotReported,
                EtcdProtocolPageTest::endsAttempt);
        GRAPH.assertOneOutcome(
                state -> ENDING.contains(state.phase().getClass()),
                event -> event instanceof End || event instanceof EtcdContenderEvent.EndAfter,
                EtcdProtocolPageTest::endsEnd);
    }

    /** A call would be pending for ever. Its outcome is that of the effect that could not be performed. */
    @Test
    void S08_anEffectThatThrowsEndsTheCallThatWaitsForIt() {
        Error error = new StackOverflowError("as planned");
        for (Transition<EtcdContenderState, EtcdContenderEvent, EtcdContenderEffect> taken : GRAPH) {
            List<EtcdContenderEffect> failures = taken.effects().stream()
                    .map(effect -> EtcdContender.failed(effect, error))
                    .filter(Objects::nonNull)
                    .flatMap(event -> EtcdContenderState.on(taken.to(), event).effects().stream())
                    .toList();
            Phase after = taken.to().phase();
            boolean begins = !after.getClass().equals(taken.from().phase().getClass());
            boolean granted = taken.has(effect -> effect instanceof EtcdContenderEffect.ReportGranted);
            if (granted || (begins && after instanceof Attempting)) {
                assertThat(failures).as("%s", taken).anyMatch(EtcdProtocolPageTest::endsAttempt);
            }
            if (begins && ENDING.contains(after.getClass())) {
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
        GRAPH.forEach(taken -> {
            boolean joined =
                    !(taken.from().phase() instanceof Idle || taken.from().phase() instanceof Gone);
            boolean leaves = joined && taken.to().phase() instanceof Gone;
            assertThat(taken.has(effect -> effect instanceof LeaveQueue))
                    .as("%s", taken)
                    .isEqualTo(leaves);
        });
    }

    /** The timer that registers the watch may have taken the grant from its list just before the release. */
    @Test
    void S17_onlyAHolderIsWatchedWhenItsTimeHasCome() {
        GRAPH.forEach(taken -> {
            if (taken.event() instanceof EtcdContenderEvent.WatchDue) {
                assertThat(taken.has(Plain.WATCH_AS_HOLDER::equals))
                        .as("%s", taken)
                        .isEqualTo(taken.from().phase() instanceof EtcdContenderState.Holding);
            }
        });
    }

    /** Otherwise a put that is executed late would leave a key for as long as the session lives. */
    @Test
    void S08_aContenderWithAPutInDoubtIsGoneOnlyAfterANewEpochOrWithItsSession() {
        GRAPH.forEach(taken -> {
            if (taken.from().inDoubt().mayStillExecute() && taken.to().phase() instanceof Gone) {
                assertThat(World.name(taken.from().phase()))
                        .as("%s", taken)
                        .isIn("Removing", "Moving", "AwaitingSessionRemoval", "Gone");
            }
            for (EtcdContenderEffect effect : taken.effects()) {
                if (effect instanceof SendWithdrawal withdrawal && taken.event() instanceof End end) {
                    assertThat(withdrawal.newEpoch())
                            .as("%s", taken)
                            .isEqualTo(taken.from().inDoubt().highestEpoch() >= end.epoch());
                }
            }
        });
    }

    @Test
    void S08_nothingIsPutAfterTheEnd() {
        GRAPH.forEach(taken -> {
            if (!(taken.to().phase() instanceof Attempting)) {
                assertThat(taken.has(effect -> effect instanceof SendPut))
                        .as("%s", taken)
                        .isFalse();
            }
        });
    }

    /** The page says where the end of the session leads. */
    @Test
    void theDiagramOnThePageShowsTheTransitions() {
        Map<String, Set<String>> arrows = GRAPH.filter(
                        taken -> !(taken.event() instanceof EtcdContenderEvent.SessionEnded)
                                && !taken.to().equals(taken.from()))
                .arrows(EtcdContenderState::phase);
        new ProtocolPage("etcd").assertShows(arrows, ProtocolPage.phases(Phase.class));
    }
}
