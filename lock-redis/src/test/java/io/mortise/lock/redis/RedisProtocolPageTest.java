// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.redis.RedisContenderState.Phase;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
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
    private static final ProtocolPage PAGE = new ProtocolPage("redis");
    private static final Set<Class<? extends Phase>> ATTEMPTING = Set.of(
            RedisContenderState.Requesting.class,
            RedisContenderState.Claiming.class,
            RedisContenderState.Confirming.class,
            RedisContenderState.Undoing.class);
    private static final Set<Class<? extends Phase>> ENDING =
            Set.of(RedisContenderState.Releasing.class, RedisContenderState.Delaying.class);

    private record Taken(RedisContenderState from, RedisContenderEvent event, RedisContenderState.Step step) {}

    private final LockException cause = new BackendUnavailableException("a cause");
    private final List<Taken> reachable = explore();

    /** Returns all events, with the two epochs 1 and 2, and a server's time before and after a late request is refused. */
    private List<RedisContenderEvent> events() {
        MonotonicInstant instant = new MonotonicInstant(0);
        List<RedisContenderEvent> events = new ArrayList<>(List.of(
                new RedisContenderEvent.End(),
                new RedisContenderEvent.EndAfter(Duration.ofSeconds(1)),
                new RedisContenderEvent.Abandon(),
                new RedisContenderEvent.Confirmed(instant),
                new RedisContenderEvent.NotConfirmed(cause),
                new RedisContenderEvent.HandOffUsable(instant),
                new RedisContenderEvent.HandOffUnusable(),
                new RedisContenderEvent.Woken(),
                new RedisContenderEvent.RemovalFailed(true, cause),
                new RedisContenderEvent.RemovalFailed(false, cause),
                new RedisContenderEvent.DelayFailed(cause),
                new RedisContenderEvent.CleanupDue(),
                new RedisContenderEvent.Expired()));
        for (int epoch = 1; epoch <= 2; epoch++) {
            events.add(new RedisContenderEvent.Attempt(epoch));
            for (ServerTime time : List.of(new ServerTime(1), new ServerTime(3))) {
                for (boolean yes : List.of(true, false)) {
                    events.add(new RedisContenderEvent.Granted(epoch, time, 7, instant, instant, yes));
                    events.add(new RedisContenderEvent.Busy(epoch, time, instant, yes, 5));
                    events.add(new RedisContenderEvent.AcquireFailed(yes, epoch, new ServerTime(2), cause));
                    events.add(new RedisContenderEvent.Removed(epoch, time, yes, !yes));
                    events.add(new RedisContenderEvent.Delayed(epoch, time, yes));
                }
                events.add(new RedisContenderEvent.GrantedUnusable(epoch, time, cause));
                events.add(new RedisContenderEvent.Late(epoch, time));
                events.add(new RedisContenderEvent.HandedOff(epoch, 7, time, instant));
            }
        }
        return events;
    }

    private List<Taken> explore() {
        List<Taken> taken = new ArrayList<>();
        Set<RedisContenderState> known = new LinkedHashSet<>(Set.of(RedisContenderState.INITIAL));
        Deque<RedisContenderState> open = new ArrayDeque<>(known);
        while (!open.isEmpty()) {
            RedisContenderState from = open.remove();
            for (RedisContenderEvent event : events()) {
                try {
                    RedisContenderState.Step step = RedisContenderState.on(from, event);
                    taken.add(new Taken(from, event, step));
                    if (known.add(step.state())) {
                        open.add(step.state());
                    }
                } catch (IllegalStateException e) {
                    assertThat(event).as("a hint may come at any time").isNotInstanceOf(RedisContenderEvent.Hint.class);
                }
            }
        }
        return taken;
    }

    @Test
    void everyPhaseIsReached() {
        Set<Class<?>> reached = new LinkedHashSet<>();
        reachable.forEach(taken -> reached.add(taken.from.phase().getClass()));
        assertThat(reached).containsExactlyInAnyOrder(Phase.class.getPermittedSubclasses());
    }

    @Test
    void eachCallOfTheCoreHasOneOutcome() {
        for (Taken taken : reachable) {
            assertOutcomes(taken, ATTEMPTING, RedisContenderEvent.Attempt.class, RedisProtocolPageTest::endsAttempt);
            assertOutcomes(taken, ENDING, RedisContenderEvent.End.class, RedisProtocolPageTest::endsEnd);
        }
    }

    private static void assertOutcomes(
            Taken taken,
            Set<Class<? extends Phase>> pending,
            Class<? extends RedisContenderEvent> call,
            Predicate<RedisContenderEffect> outcome) {
        boolean called = call.isInstance(taken.event)
                || (call == RedisContenderEvent.End.class && taken.event instanceof RedisContenderEvent.EndAfter);
        boolean before = pending.contains(taken.from.phase().getClass());
        boolean after = pending.contains(taken.step.state().phase().getClass());
        assertThat(before && called).as("calls overlap: %s", taken).isFalse();
        long outcomes = taken.step.effects().stream().filter(outcome).count();
        assertThat(outcomes).as("%s", taken).isEqualTo((before || called) && !after ? 1 : 0);
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
        for (Taken taken : reachable) {
            boolean expired = taken.event instanceof RedisContenderEvent.Expired;
            if (taken.step.state().phase() instanceof RedisContenderState.Gone
                    && !(taken.from.phase() instanceof RedisContenderState.Gone)
                    && !expired) {
                assertThat(taken.step.state().inDoubt().mayStillExecute())
                        .as("%s", taken)
                        .isFalse();
            }
        }
    }

    @Test
    void S08_aRemovalAsksForTheTimeIfARequestMayBeExecuted() {
        for (Taken taken : reachable) {
            for (RedisContenderEffect effect : taken.step.effects()) {
                if (effect instanceof RedisContenderEffect.SendRemoval removal) {
                    assertThat(removal.withTime())
                            .as("%s", taken)
                            .isEqualTo(taken.step.state().inDoubt().mayStillExecute());
                }
            }
        }
    }

    @Test
    void S01_onlyAReplyAConfirmationOrACheckedHandOffGrants() {
        for (Taken taken : reachable) {
            boolean reply = taken.event instanceof RedisContenderEvent.Granted granted && !granted.needsConfirmation();
            boolean later = taken.event instanceof RedisContenderEvent.Confirmed
                    || taken.event instanceof RedisContenderEvent.HandOffUsable;
            assertThat(taken.step.effects().stream().anyMatch(RedisContenderEffect.ReportGranted.class::isInstance))
                    .as("%s", taken)
                    .isEqualTo(reply || later);
        }
    }

    @Test
    void S11_aHintForAPhaseInWhichTheCoreMayWaitWakesIt() {
        Set<String> deaf = new TreeSet<>();
        for (Taken taken : reachable) {
            if (taken.event instanceof RedisContenderEvent.Hint
                    && !taken.step.effects().contains(RedisContenderEffect.Plain.WAKE_WAITER)) {
                deaf.add(name(taken.from));
            }
        }
        assertThat(deaf)
                .containsExactly("Abandoned", "CleaningUp", "Delaying", "Gone", "Holding", "Releasing", "Withdrawing");
    }

    @Test
    void theDiagramOnThePageShowsTheTransitions() {
        String expected = diagram();
        assertThat(PAGE.shownDiagram(expected))
                .as("the diagram; -Dupdate.docs writes it again")
                .isEqualTo(expected);
    }

    /** Returns the transitions in the order of the phases in the code, without hints that change nothing. */
    private String diagram() {
        Map<String, Map<String, Set<Boolean>>> inDoubt = new TreeMap<>(); // by event, then by arrow
        for (Taken taken : reachable) {
            boolean nothingChanges = taken.event instanceof RedisContenderEvent.Hint
                    && taken.step.state().equals(taken.from);
            if (!nothingChanges) {
                inDoubt.computeIfAbsent(name(taken.from) + " " + name(taken.event), key -> new TreeMap<>())
                        .computeIfAbsent(arrow(taken), arrow -> new TreeSet<>())
                        .add(taken.step.state().inDoubt().mayStillExecute());
            }
        }
        Map<String, List<String>> labels = new TreeMap<>();
        inDoubt.forEach((fromAndEvent, arrows) -> arrows.forEach((arrow, values) -> {
            String event = fromAndEvent.substring(fromAndEvent.indexOf(' ') + 1);
            boolean distinguishes = arrows.size() > 1 && values.equals(Set.of(true));
            labels.computeIfAbsent(arrow, key -> new ArrayList<>()).add(distinguishes ? event + " [in doubt]" : event);
        }));
        return ProtocolPage.diagram(labels, phases());
    }

    private static List<String> phases() {
        return Arrays.stream(Phase.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .toList();
    }

    private static String arrow(Taken taken) {
        return name(taken.from) + " --> " + name(taken.step.state());
    }

    private static String name(RedisContenderState state) {
        return state.phase().getClass().getSimpleName();
    }

    private static String name(RedisContenderEvent event) {
        return event.getClass().getSimpleName();
    }
}
