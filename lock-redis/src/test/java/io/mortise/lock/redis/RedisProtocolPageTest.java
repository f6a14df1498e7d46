// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.Transition;
import io.mortise.lock.explorer.TransitionGraph;
import io.mortise.lock.explorer.World;
import io.mortise.lock.redis.RedisContenderState.Phase;
import io.mortise.lock.redis.RedisContenderState.Step;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Takes every event in every state that a contender can reach, with two connections and few times. Checks what must be true of
 * each step, and that the diagram in {@code docs/protocols/redis.md} shows these steps. To write the diagram again, run this test
 * with {@code -Dupdate.docs}.
 */
class RedisProtocolPageTest {
    private static final Set<Class<? extends Phase>> ATTEMPTING = Set.of(
            RedisContenderState.Requesting.class,
            RedisContenderState.Claiming.class,
            RedisContenderState.Confirming.class,
            RedisContenderState.Undoing.class);
    private static final Set<Class<? extends Phase>> ENDING =
            Set.of(RedisContenderState.Releasing.class, RedisContenderState.Delaying.class);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown
    private static final LockException CAUSE = new BackendUnavailableException("a cause");

    private static final TransitionGraph<RedisContenderState, RedisContenderEvent, RedisContenderEffect> GRAPH =
            graph();

    private static TransitionGraph<RedisContenderState, RedisContenderEvent, RedisContenderEffect> graph() {
        List<RedisContenderEvent> events = events();
        return TransitionGraph.of(
                List.of(RedisContenderState.INITIAL),
                state -> events,
                RedisContenderState::on,
                Step::state,
                Step::effects,
                state -> state);
    }

    /** Returns all events, with the two epochs 1 and 2, and a server's time before and after a late request is refused. */
    private static List<RedisContenderEvent> events() {
        MonotonicInstant instant = new MonotonicInstant(0);
        List<RedisContenderEvent> events = new ArrayList<>(List.of(
                new RedisContenderEvent.End(),
                new RedisContenderEvent.EndAfter(Duration.ofSeconds(1)),
                new RedisContenderEvent.Abandon(),
                new RedisContenderEvent.Confirmed(instant),
                new RedisContenderEvent.NotConfirmed(CAUSE),
                new RedisContenderEvent.HandOffUsable(instant),
                new RedisContenderEvent.HandOffUnusable(),
                new RedisContenderEvent.Woken(),
                new RedisContenderEvent.RemovalFailed(true, CAUSE),
                new RedisContenderEvent.RemovalFailed(false, CAUSE),
                new RedisContenderEvent.DelayFailed(CAUSE),
                new RedisContenderEvent.CleanupDue(),
                new RedisContenderEvent.Expired()));
        for (int epoch = 1; epoch <= 2; epoch++) {
            events.add(new RedisContenderEvent.Attempt(epoch));
            for (ServerTime time : List.of(new ServerTime(1), new ServerTime(3))) {
                for (boolean yes : List.of(true, false)) {
                    events.add(new RedisContenderEvent.Granted(epoch, time, 7, instant, instant, yes));
                    events.add(new RedisContenderEvent.Busy(epoch, time, instant, yes, 5));
                    events.add(new RedisContenderEvent.AcquireFailed(yes, epoch, new ServerTime(2), CAUSE));
                    events.add(new RedisContenderEvent.Removed(epoch, time, yes, !yes));
                    events.add(new RedisContenderEvent.Delayed(epoch, time, yes));
                }
                events.add(new RedisContenderEvent.GrantedUnusable(epoch, time, CAUSE));
                events.add(new RedisContenderEvent.Late(epoch, time));
                events.add(new RedisContenderEvent.HandedOff(epoch, 7, time, instant));
            }
        }
        return events;
    }

    @Test
    void aHintMayComeAtAnyTime() {
        assertThat(GRAPH.impossible()).isNotEmpty().noneMatch(RedisContenderEvent.Hint.class::isInstance);
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        assertOneOutcome(
                ATTEMPTING, event -> event instanceof RedisContenderEvent.Attempt, RedisProtocolPageTest::endsAttempt);
        assertOneOutcome(
                ENDING,
                event -> event instanceof RedisContenderEvent.End || event instanceof RedisContenderEvent.EndAfter,
                RedisProtocolPageTest::endsEnd);
    }

    private static void assertOneOutcome(
            Set<Class<? extends Phase>> pending,
            Predicate<RedisContenderEvent> call,
            Predicate<RedisContenderEffect> outcome) {
        GRAPH.assertOneOutcome(state -> pending.contains(state.phase().getClass()), call, outcome);
        assertThat(GRAPH)
                .as("calls overlap")
                .noneMatch(taken -> pending.contains(taken.from().phase().getClass()) && call.test(taken.event()));
    }

    private static boolean endsAttempt(RedisContenderEffect effect) {
        return effect instanceof RedisContenderEffect.ReportGranted
                || effect instanceof RedisContenderEffect.ReportBusy
                || effect instanceof RedisContenderEffect.FailAttempt
                || effect == RedisContenderEffect.Plain.FAIL_LATE_ATTEMPT
                || effect == RedisContenderEffect.Plain.REPORT_DISPLACED;
    }

    private static boolean endsEnd(RedisContenderEffect effect) {
        return effect instanceof RedisContenderEffect.ReportEnded || effect instanceof RedisContenderEffect.FailEnd;
    }

    @Test
    void S08_noContenderIsGoneWhileARequestMayBeExecutedUnlessItWasAbandoned() {
        for (Transition<RedisContenderState, RedisContenderEvent, RedisContenderEffect> taken : GRAPH) {
            boolean expired = taken.event() instanceof RedisContenderEvent.Expired;
            if (taken.to().phase() instanceof RedisContenderState.Gone
                    && !(taken.from().phase() instanceof RedisContenderState.Gone)
                    && !expired) {
                assertThat(taken.to().inDoubt().mayStillExecute())
                        .as("%s", taken)
                        .isFalse();
            }
        }
    }

    @Test
    void S08_aRemovalAsksForTheTimeIfARequestMayBeExecuted() {
        for (Transition<RedisContenderState, RedisContenderEvent, RedisContenderEffect> taken : GRAPH) {
            for (RedisContenderEffect effect : taken.effects()) {
                if (effect instanceof RedisContenderEffect.SendRemoval removal) {
                    assertThat(removal.withTime())
                            .as("%s", taken)
                            .isEqualTo(taken.to().inDoubt().mayStillExecute());
                }
            }
        }
    }

    @Test
    void S01_onlyAReplyAConfirmationOrACheckedHandOffGrants() {
        for (Transition<RedisContenderState, RedisContenderEvent, RedisContenderEffect> taken : GRAPH) {
            boolean reply =
                    taken.event() instanceof RedisContenderEvent.Granted granted && !granted.needsConfirmation();
            boolean later = taken.event() instanceof RedisContenderEvent.Confirmed
                    || taken.event() instanceof RedisContenderEvent.HandOffUsable;
            assertThat(taken.has(RedisContenderEffect.ReportGranted.class::isInstance))
                    .as("%s", taken)
                    .isEqualTo(reply || later);
        }
    }

    @Test
    void S11_aHintForAPhaseInWhichTheCoreMayWaitWakesIt() {
        Set<String> deaf = new TreeSet<>();
        for (Transition<RedisContenderState, RedisContenderEvent, RedisContenderEffect> taken : GRAPH) {
            if (taken.event() instanceof RedisContenderEvent.Hint
                    && !taken.effects().contains(RedisContenderEffect.Plain.WAKE_WAITER)) {
                deaf.add(name(taken.from()));
            }
        }
        assertThat(deaf)
                .containsExactly("Abandoned", "CleaningUp", "Delaying", "Gone", "Holding", "Releasing", "Withdrawing");
    }

    /** Shown are the transitions without hints that change nothing. */
    @Test
    void theDiagramOnThePageShowsTheTransitions() {
        Map<String, Map<String, Set<Boolean>>> inDoubt = new TreeMap<>(); // by phase and event, then by arrow
        for (Transition<RedisContenderState, RedisContenderEvent, RedisContenderEffect> taken : GRAPH) {
            boolean nothingChanges = taken.event() instanceof RedisContenderEvent.Hint
                    && taken.to().equals(taken.from());
            if (!nothingChanges) {
                inDoubt.computeIfAbsent(name(taken.from()) + " " + World.name(taken.event()), key -> new TreeMap<>())
                        .computeIfAbsent(
                                ProtocolPage.arrow(
                                        taken.from().phase(), taken.to().phase()),
                                arrow -> new TreeSet<>())
                        .add(taken.to().inDoubt().mayStillExecute());
            }
        }
        Map<String, List<String>> labels = new TreeMap<>();
        inDoubt.forEach((fromAndEvent, arrows) -> arrows.forEach((arrow, values) -> {
            String event = fromAndEvent.substring(fromAndEvent.indexOf(' ') + 1);
            boolean distinguishes = arrows.size() > 1 && values.equals(Set.of(true));
            labels.computeIfAbsent(arrow, key -> new ArrayList<>()).add(distinguishes ? event + " [in doubt]" : event);
        }));
        new ProtocolPage("redis").assertShows(labels, ProtocolPage.phases(Phase.class));
    }

    private static String name(RedisContenderState state) {
        return World.name(state.phase());
    }
}
