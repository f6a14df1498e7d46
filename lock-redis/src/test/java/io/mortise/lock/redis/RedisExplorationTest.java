// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.redis.RedisContenderEffect.Plain;
import io.mortise.lock.redis.RedisContenderEffect.ReportEnded;
import io.mortise.lock.redis.RedisContenderEvent.AcquireFailed;
import io.mortise.lock.redis.RedisContenderEvent.Attempt;
import io.mortise.lock.redis.RedisContenderEvent.Delayed;
import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderEvent.RemovalFailed;
import io.mortise.lock.redis.RedisContenderEvent.Removed;
import io.mortise.lock.redis.RedisContenderState.Gone;
import io.mortise.lock.redis.RedisContenderState.Queued;
import io.mortise.lock.redis.RedisContenderState.Spoiled;
import io.mortise.lock.redis.RedisContenderState.Step;
import io.mortise.lock.redis.RedisContenderState.Unsettled;
import io.mortise.lock.redis.RedisScope.Fault;
import io.mortise.lock.redis.RedisScope.Flaw;
import io.mortise.lock.redis.RedisScope.Option;
import io.mortise.lock.redis.RedisScope.Renewal;
import io.mortise.lock.redis.RedisScope.Variant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores the interleavings of the Redis protocol: the production state machine and scripts, in a modelled world. */
@Tag("once")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RedisExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("redis");
    private static final Set<Fault> ALL = EnumSet.allOf(Fault.class);
    /** After these, and after the delay of a release, a grant may end by its expiry alone, which wakes nobody. */
    private static final Set<Fault> NEED_FALLBACK = Set.of(Fault.DEATH, Fault.ABANDONED);

    /**
     * The faults that are explored alone with contenders of one client. There, a restart with the data is a cut, and after a death
     * nobody is left. The others need a second fault.
     */
    private static final Set<Fault> ON_ONE_CLIENT = EnumSet.complementOf(
            EnumSet.of(Fault.RESTART, Fault.DEATH, Fault.REPLAY, Fault.LATE_EXECUTION, Fault.ABANDONED));

    private static final ProtocolExplorer<RedisScope, RedisWorld> EXPLORER = new ProtocolExplorer<>(
            RedisWorld::new,
            scope -> scope.with(Variant.PRODUCTION),
            RedisExplorationTest::needsFallback,
            Integer.getInteger("mortise.explore.states", 10_000_000));

    /** Explored without the times after which a waiter asks again, and without expiry: they hide each lost message. */
    @ParameterizedTest
    @MethodSource
    void S11_withoutFaultsNoWakeUpIsLost(RedisScope scope) {
        Exploration<RedisWorld> explored = keepsTheRules(scope);
        assertThat(explored.situations()).containsKeys("Queued", "Holding", "given up");
        boolean isHeldLong = scope.options().contains(Option.LONG_HOLDING); // that makes acquires late, as a clock does
        assertThat(explored.situations().containsKey("left free for a woken waiter"))
                .isEqualTo(isHeldLong);
        assertThat(explored.situations())
                .doesNotContainKeys(ALL.stream()
                        .filter(fault -> !isHeldLong || fault != Fault.CLOCK_SET_FORWARD)
                        .map(RedisExplorationTest::leadsTo)
                        .toArray(String[]::new));
    }

    static Stream<RedisScope> S11_withoutFaultsNoWakeUpIsLost() {
        return Stream.of(
                RedisScope.of("00"),
                RedisScope.of("01").with(Option.CONFIRMATION),
                RedisScope.of("0a"),
                RedisScope.of("01").andAcquires(1),
                RedisScope.of("001"),
                RedisScope.of("000").with(Option.LONG_HOLDING));
    }

    @ParameterizedTest
    @EnumSource
    void S01_S03_S08_S11_eachFaultKeepsTheRules(Fault fault) {
        Exploration<RedisWorld> explored = keepsTheRules(one(fault));
        assertThat(explored.stuck(Kind.PROGRESS).isPresent()).isEqualTo(NEED_FALLBACK.contains(fault));
        assertThat(explored.situations()).containsKey(leadsTo(fault));
    }

    /** ABANDONED needs a second fault, and so is not among those of {@link #ON_ONE_CLIENT}. */
    @Test
    void S01_S03_S08_anAbandonedContenderOfOneClientKeepsTheRules() {
        Exploration<RedisWorld> explored = keepsTheRules(
                RedisScope.of("00").with(Option.CONFIRMATION).faults(2, Fault.ERROR_REPLY, Fault.ABANDONED));
        assertThat(explored.situations()).containsKey(leadsTo(Fault.ABANDONED));
    }

    /** Returns a scope in which the fault has an effect: with two clients, except for a cut, which is a part of LATE_EXECUTION. */
    private static RedisScope one(Fault fault) {
        RedisScope two = RedisScope.of("01").with(Option.CONFIRMATION);
        return switch (fault) {
            case CUT -> RedisScope.of("00").with(Option.CONFIRMATION).faults(1, ON_ONE_CLIENT);
            case LATE_EXECUTION -> RedisScope.of("01").faults(1, Fault.CUT, fault);
            case RESTART, HALF_OPEN -> RedisScope.of("01").faults(1, fault);
            case ABANDONED -> two.faults(2, Fault.ERROR_REPLY, fault);
            case REPLAY -> RedisScope.of("00").andAcquires(1).faults(2, fault, Fault.UNUSABLE_TOKEN);
            default -> two.faults(1, fault);
        };
    }

    /** Returns a situation that the fault leads to, and that does not occur without faults. */
    private static String leadsTo(Fault fault) {
        return switch (fault) {
            case CUT, SLOW_REPLY, ERROR_REPLY -> "Unsettled";
            case NOT_CONFIRMED, UNUSABLE_TOKEN -> "Undoing";
            case ABANDONED -> "Abandoned";
            case UNKNOWN_SCRIPT -> "a request is sent with its script";
            case LATE_EXECUTION -> "an acquire is executed after the end";
            case HALF_OPEN -> "handed off to a lost connection";
            case SHORT_VALIDITY -> "a hand-off is asked for again";
            case REPLAY -> "a message is older than the queue entry";
            case FORCED_RELEASE -> "lost";
            case RESTART -> "nobody is connected";
            case DATA_LOSS -> "forgotten in the queue";
            case CLOCK_SET_BACK -> "the clock is behind the tokens";
            case CLOCK_SET_FORWARD -> "a late acquire is sent again";
            case EXPIRY -> "a grant expires before it is used";
            case DEATH -> "granted to a dead client";
        };
    }

    /** A late acquire, a late removal and a repetition spare the grant that is kept for the delay. */
    @ParameterizedTest
    @MethodSource
    void S05_delayedReleasesKeepTheRules(RedisScope scope) {
        Exploration<RedisWorld> explored = keepsTheRules(scope);
        assertThat(explored.situations()).containsKey("kept for a delay");
    }

    static Stream<RedisScope> S05_delayedReleasesKeepTheRules() {
        return Stream.of(
                RedisScope.of("01").with(Option.DELAYED_RELEASE),
                RedisScope.of("0").andAcquires(1).with(Option.DELAYED_RELEASE).faults(1, ALL));
    }

    /** A contender believes until the deadline that the code of production computes, and the grant expires by the server's clock. */
    @ParameterizedTest
    @MethodSource
    void S01_S05_S06_S07_renewalsKeepTheRules(RedisScope scope) {
        Exploration<RedisWorld> explored = keepsTheRules(scope);
        assertThat(explored.situations()).containsKeys("renewed", "lost");
    }

    static Stream<RedisScope> S01_S05_S06_S07_renewalsKeepTheRules() {
        return Stream.of(
                RedisScope.of("01").with(Option.RENEWAL),
                RedisScope.of("0").with(Option.RENEWAL, Option.SECOND_RENEWAL),
                lateRenewals(1));
    }

    private static RedisScope lateRenewals(int faults) {
        return RedisScope.of("0")
                .with(Option.DELAYED_RELEASE, Option.RENEWAL)
                .faults(
                        faults,
                        Fault.CUT,
                        Fault.LATE_EXECUTION,
                        Fault.SLOW_REPLY,
                        Fault.UNKNOWN_SCRIPT,
                        Fault.FORCED_RELEASE);
    }

    @Test
    void S01_S03_S08_twoFaultsKeepTheRules() {
        Exploration<RedisWorld> explored = keepsTheRules(RedisScope.of("0")
                .with(Option.DELAYED_RELEASE, Option.CONFIRMATION)
                .faults(2, ALL));
        assertThat(explored.situations().keySet())
                .containsAll(ProtocolPage.phases(RedisContenderState.Phase.class).stream()
                        .filter(phase -> !phase.equals("Claiming")) // only within a step
                        .toList());
    }

    /** The faults that cost few states with three contenders. */
    private static final Set<Fault> OF_THREE = EnumSet.of(
            Fault.SLOW_REPLY,
            Fault.ERROR_REPLY,
            Fault.UNKNOWN_SCRIPT,
            Fault.UNUSABLE_TOKEN,
            Fault.SHORT_VALIDITY,
            Fault.FORCED_RELEASE,
            Fault.DATA_LOSS,
            Fault.CLOCK_SET_BACK,
            Fault.CLOCK_SET_FORWARD,
            Fault.EXPIRY);

    @ParameterizedTest
    @MethodSource
    @Tag("long")
    void S01_S03_S08_S11_largerScopesKeepTheRules(RedisScope scope) {
        assertShown(scope, EXPLORER.explore(scope));
    }

    static Stream<RedisScope> S01_S03_S08_S11_largerScopesKeepTheRules() {
        RedisScope one = RedisScope.of("00").with(Option.CONFIRMATION);
        RedisScope three = RedisScope.of("000").with(Option.CONFIRMATION);
        return Stream.of(
                RedisScope.of("012"),
                RedisScope.of("001").with(Option.LONG_HOLDING),
                RedisScope.of("000").faults(1, OF_THREE),
                three.faults(1, Fault.NOT_CONFIRMED),
                three.faults(2, Fault.ERROR_REPLY, Fault.ABANDONED),
                one.faults(1, Fault.CUT, Fault.LATE_EXECUTION),
                RedisScope.of("011").with(Option.MANY_DEAD).faults(1, Fault.DEATH),
                RedisScope.of("00").faults(2, Fault.UNKNOWN_SCRIPT, Fault.SLOW_REPLY),
                RedisScope.of("0").faults(3, Fault.UNKNOWN_SCRIPT, Fault.SLOW_REPLY, Fault.CUT, Fault.LATE_EXECUTION),
                RedisScope.of("01")
                        .with(Option.DELAYED_RELEASE, Option.CONFIRMATION)
                        .faults(1, ALL),
                RedisScope.of("0a").with(Option.RENEWAL).faults(1, Fault.SLOW_REPLY, Fault.FORCED_RELEASE),
                RedisScope.of("01").with(Option.RENEWAL, Option.SECOND_RENEWAL),
                lateRenewals(2));
    }

    /** For {@code ./verify --deep}: minutes, and gigabytes of memory. */
    @ParameterizedTest
    @MethodSource
    @EnabledIfSystemProperty(named = "mortise.explore", matches = "deep")
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void S01_S03_S08_theDeepModeKeepsTheRules(RedisScope scope) {
        EXPLORER.assertRulesHoldAsFarAsExplored(scope);
    }

    /** The last two have more states than are explored. */
    static Stream<RedisScope> S01_S03_S08_theDeepModeKeepsTheRules() {
        RedisScope two = RedisScope.of("00").with(Option.DELAYED_RELEASE, Option.CONFIRMATION);
        return Stream.of(
                two.faults(1, ALL),
                RedisScope.of("0")
                        .with(Option.DELAYED_RELEASE, Option.CONFIRMATION)
                        .faults(3, ALL),
                RedisScope.of("001").faults(1, OF_THREE),
                RedisScope.of("000").faults(1, Fault.CUT),
                RedisScope.of("000").faults(1, Fault.HALF_OPEN),
                RedisScope.of("000").faults(1, Fault.RESTART),
                RedisScope.of("000").faults(1, Fault.CUT, Fault.LATE_EXECUTION),
                two.faults(2, ALL));
    }

    private static Exploration<RedisWorld> keepsTheRules(RedisScope scope) {
        Exploration<RedisWorld> explored = EXPLORER.assertRulesHold(scope);
        assertShown(scope, explored);
        return explored;
    }

    private static void assertShown(RedisScope scope, Exploration<RedisWorld> explored) {
        String start = String.format(
                "| `%s` | %s | %s |",
                scope.contenders() + "+".repeat(scope.furtherAcquires()),
                ProtocolPage.names(scope.options()),
                ProtocolPage.faults(scope.faults(), scope.possible(), Fault.class));
        PAGE.assertShows(start, explored);
    }

    private static boolean needsFallback(RedisScope scope) {
        boolean awaitsDelay = scope.options().contains(Option.DELAYED_RELEASE)
                && scope.contenders().length() > 1;
        return awaitsDelay || scope.possible().stream().anyMatch(NEED_FALLBACK::contains);
    }

    /** The exploration is worth what it finds: each defect is one that the protocol could have, or has had. */
    @ParameterizedTest
    @MethodSource
    void aDefectIsFound(Defect<RedisScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<RedisScope>> aDefectIsFound() {
        return Stream.of(
                new Defect<>(
                        "a late acquire is executed",
                        "S08",
                        lateExecutions("0", script(RedisLockScript.ACQUIRE, "now > tonumber(not_after)", "false"))),
                new Defect<>(
                        "a release deletes any grant",
                        "S05",
                        RedisScope.of("01")
                                .with(script(
                                        RedisLockScript.RELEASE, "string.sub(value, 1, #attempt) == attempt", "true"))),
                new Defect<>(
                        "a release serves no waiter",
                        "S11",
                        RedisScope.of("01")
                                .with(script(
                                        RedisLockScript.RELEASE,
                                        "more_dead = hand_off(value, now)",
                                        "redis.call('DEL', grant_key)"))),
                new Defect<>(
                        "a repeated acquire does not know its grant",
                        "S11",
                        RedisScope.of("0")
                                .faults(1, Fault.CUT)
                                .with(script(
                                        RedisLockScript.ACQUIRE,
                                        "if value and string.sub(value, 1, #attempt) == attempt then",
                                        "if false then"))),
                new Defect<>(
                        "a withdrawal leaves the queue entry",
                        "S08",
                        RedisScope.of("01")
                                .with(script(
                                        RedisLockScript.RELEASE,
                                        "was_queued = leave(attempt)",
                                        "was_queued = redis.call('ZSCORE', queue_key, attempt)"))),
                new Defect<>(
                        "the mark of a wake-up stays when the queue is empty",
                        "S08",
                        RedisScope.of("000")
                                .with(Option.LONG_HOLDING)
                                .with(script(
                                        RedisLockScript.ACQUIRE,
                                        "entries_key, attempt, 'wake'",
                                        "entries_key, attempt"))),
                new Defect<>(
                        "the entries of a queue never expire",
                        "S17",
                        RedisScope.of("01")
                                .with(script(
                                        RedisLockScript.ACQUIRE,
                                        "redis.call('PEXPIRE', entries_key, entry_ms * 2)",
                                        ""))),
                new Defect<>(
                        "a withdrawal says that nothing was there",
                        "S05",
                        RedisScope.of("01").with(script(RedisLockScript.RELEASE, "was_queued and 1 or 0", "0"))),
                new Defect<>(
                        "a token is the time alone",
                        "S03",
                        RedisScope.of("01")
                                .faults(1, Fault.CLOCK_SET_BACK)
                                .with(script(
                                        RedisLockScript.ACQUIRE, "return last + 1, token", "return now, digits(now)"))),
                new Defect<>(
                        "a newcomer overtakes the queue of a free lock",
                        "S12",
                        RedisScope.of("0aa")
                                .faults(1, Fault.EXPIRY)
                                .with(script(
                                        RedisLockScript.ACQUIRE, "not first or first.attempt == attempt", "true"))),
                new Defect<>(
                        "a hand-off is not told",
                        "S11",
                        RedisScope.of("01")
                                .with(script(
                                        RedisLockScript.RELEASE, "publish_signed(first, 'G '", "local _ = ('G '"))),
                new Defect<>(
                        "a lock is left free, and nobody is told",
                        "S11",
                        RedisScope.of("000")
                                .with(Option.LONG_HOLDING)
                                .with(script(
                                        RedisLockScript.RELEASE, "publish_signed(first, 'W '", "local _ = ('W '"))),
                new Defect<>(
                        "no cleanup after an unknown outcome",
                        "S08",
                        lateExecutions("0", without(Plain.START_CLEANUP))),
                new Defect<>("a wake-up is ignored", "S11", RedisScope.of("01").with(without(Plain.WAKE_WAITER))),
                new Defect<>(
                        "no wake-up on a new connection",
                        "S11",
                        one(Fault.DATA_LOSS).with(flaw(Flaw.NO_WAKE_UP_ON_CONNECT))),
                new Defect<>(
                        "a message from another connection is used",
                        "S02",
                        one(Fault.CUT).with(machine(RedisExplorationTest::withoutEpochs))),
                new Defect<>(
                        "a message that is older than the busy reply is used",
                        "S01",
                        one(Fault.REPLAY)
                                .with(machine((state, event) -> RedisContenderState.on(
                                        state,
                                        event instanceof HandedOff message
                                                        && state.phase() instanceof Queued queued
                                                        && message.time().isBefore(queued.time())
                                                ? new HandedOff(
                                                        message.epoch(),
                                                        message.token(),
                                                        queued.time(),
                                                        message.arrived())
                                                : event)))),
                new Defect<>(
                        "a reply on a new connection ends every doubt",
                        "S08",
                        lateExecutions(
                                "0",
                                machine((state, event) -> RedisContenderState.on(
                                        state,
                                        event instanceof Removed removed
                                                ? new Removed(
                                                        (int) state.inDoubt().highestEpoch(),
                                                        removed.time(),
                                                        removed.held(),
                                                        removed.queued())
                                                : event)))),
                new Defect<>(
                        "each end says that there was something",
                        "S05",
                        RedisScope.of("0a").with(machine((state, event) -> {
                            Step step = RedisContenderState.on(state, event);
                            return new Step(
                                    step.state(),
                                    step.effects().stream()
                                            .map(each -> each instanceof ReportEnded ? new ReportEnded(true) : each)
                                            .toList());
                        }))),
                new Defect<>(
                        "a renewal creates a grant",
                        "S06",
                        RedisScope.of("0")
                                .with(Option.RENEWAL)
                                .with(
                                        script(
                                                RedisLockScript.RENEW,
                                                "or 0",
                                                "or (redis.call('SET', grant_key, attempt .. ' token=1', 'NX', 'PX', lease) and 1 or 0)"))),
                new Defect<>(
                        "a renewal extends any grant",
                        "S05",
                        RedisScope.of("01")
                                .with(Option.RENEWAL)
                                .with(script(
                                        RedisLockScript.RENEW,
                                        "local whose",
                                        "redis.call('PEXPIRE', grant_key, lease) local whose"))),
                new Defect<>(
                        "a renewal extends the grant that is kept",
                        "S05",
                        lateRenewals(1)
                                .with(script(
                                        RedisLockScript.RENEW,
                                        "whose == attempt",
                                        "string.find(redis.call('GET', grant_key) or '', attempt, 1, true)"))),
                new Defect<>(
                        "a renewal extends nothing",
                        "S01",
                        RedisScope.of("0")
                                .with(Option.RENEWAL)
                                .with(script(RedisLockScript.RENEW, "redis.call('PEXPIRE', grant_key, lease)", "1"))),
                new Defect<>(
                        "a renewal does not notice that the grant is gone",
                        "S07",
                        RedisScope.of("0").with(Option.RENEWAL).with(script(RedisLockScript.RENEW, "or 0", "or 1"))),
                new Defect<>(
                        "a renewed deadline counts from the reply",
                        "S01",
                        RedisScope.of("0")
                                .with(Option.RENEWAL)
                                .with(renewal((before, sent, now) -> RedisLeaseTimes.renewed(before, now, now)))),
                new Defect<>(
                        "a reply after the deadline extends the lease",
                        "S06",
                        RedisScope.of("0")
                                .with(Option.RENEWAL)
                                .with(renewal((before, sent, now) -> RedisLeaseTimes.granted(sent)))),
                // The following are defects that were mended.
                new Defect<>(
                        "an attempt is used again although its removal had no reply",
                        "S01",
                        RedisScope.of("0")
                                .faults(2, Fault.UNUSABLE_TOKEN, Fault.CUT, Fault.LATE_EXECUTION)
                                .with(machine((state, event) -> RedisContenderState.on(
                                        state.phase() instanceof Spoiled
                                                ? new RedisContenderState(new Unsettled(), state.inDoubt())
                                                : state,
                                        event)))),
                new Defect<>(
                        "a removal finds the grant that is kept",
                        "S05",
                        lateExecutions(
                                "0",
                                script(
                                        RedisLockScript.RELEASE,
                                        "local held = value and string.sub(value, 1, #attempt) == attempt",
                                        "local held = value and string.find(value, attempt, 1, true) ~= nil"))),
                new Defect<>(
                        "an acquire finds the grant that is kept",
                        "S05",
                        lateExecutions(
                                "0",
                                script(
                                        RedisLockScript.ACQUIRE,
                                        "value and string.sub(value, 1, #attempt) == attempt",
                                        "value and string.find(value, attempt, 1, true)"))),
                new Defect<>(
                        "a delayed release leaves the queue entry of a late acquire",
                        "S08",
                        lateExecutions(
                                "0",
                                script(RedisLockScript.RELEASE_AFTER, "was_queued = leave(attempt)", "was_queued"))),
                new Defect<>(
                        "a delayed release keeps another grant of its attempt",
                        "S05",
                        RedisScope.of("0")
                                .with(Option.DELAYED_RELEASE)
                                .faults(2, Fault.CUT, Fault.LATE_EXECUTION, Fault.FORCED_RELEASE)
                                .with(script(RedisLockScript.RELEASE_AFTER, "token == ''", "true"))),
                new Defect<>(
                        "a delayed release that finds no grant ends every doubt",
                        "S08",
                        lateExecutions("0", machine((state, event) -> {
                            Step step = RedisContenderState.on(state, event);
                            return event instanceof Delayed delayed && !delayed.kept()
                                    ? new Step(
                                            new RedisContenderState(
                                                    new Gone(), step.state().inDoubt()),
                                            List.of(Plain.UNREGISTER, new ReportEnded(false)))
                                    : step;
                        }))),
                new Defect<>(
                        "a removal that had no reply counts as not executed",
                        "S01",
                        RedisScope.of("0")
                                .faults(2, Fault.UNUSABLE_TOKEN, Fault.CUT, Fault.LATE_EXECUTION)
                                .with(machine((state, event) -> RedisContenderState.on(
                                        state,
                                        event instanceof RemovalFailed failed
                                                ? new RemovalFailed(true, failed.cause())
                                                : event)))),
                new Defect<>(
                        "an acquire that was not sent has no outcome",
                        "S11",
                        RedisScope.of("0")
                                .faults(1, Fault.CUT)
                                .with(machine(
                                        (state, event) -> event instanceof AcquireFailed failed && failed.notExecuted()
                                                ? new Step(state, List.of())
                                                : RedisContenderState.on(state, event)))),
                new Defect<>(
                        "a grant is confirmed over another connection",
                        "S01",
                        one(Fault.DATA_LOSS).with(flaw(Flaw.CONFIRM_OVER_ANY_CONNECTION))));
    }

    /** Found in a scope that takes too long for every run, which is why the way is given. */
    @Test
    void aSweepThatNamesItsAttemptIsFound() {
        RedisScope scope = RedisScope.of("011")
                .with(Option.MANY_DEAD)
                .faults(3, Fault.UNUSABLE_TOKEN, Fault.DEATH, Fault.CUT, Fault.LATE_EXECUTION)
                .with(flaw(Flaw.SWEEP_NAMES_ATTEMPT));
        EXPLORER.assertFinds(new Defect<>("a sweep names the attempt that was removed", "S01", scope), """
                1. contender 0 makes its first attempt
                2. contender 1 makes its first attempt
                3. contender 2 makes its first attempt
                4. the server executes ACQUIRE of contender 0
                5. the server executes ACQUIRE of contender 1
                6. the server executes ACQUIRE of contender 2
                7. the process of client 1 dies
                8. client 0 receives a token out of range
                9. the server executes REMOVAL of contender 0
                10. client 0 receives the reply [1, 0, 1700000000000004, 1] to REMOVAL of contender 0
                11. the connection of client 0 is cut
                12. client 0 connects again
                13. contender 0 tries again after a failure
                14. the server executes ACQUIRE of contender 0
                15. client 0 receives the reply [late, 1700000000000005] to ACQUIRE of contender 0
                16. the server executes ACQUIRE of contender 0
                17. client 0 receives the reply [1700000000000006] to ACQUIRE of contender 0
                18. the server executes SWEEP of contender 0 from a lost connection
                """);
    }

    private static RedisScope lateExecutions(String contenders, Variant variant) {
        return RedisScope.of(contenders)
                .with(Option.DELAYED_RELEASE)
                .faults(2, Fault.CUT, Fault.LATE_EXECUTION)
                .with(variant);
    }

    /** Two checks prevent this defect; neither is enough for it alone. */
    private static Step withoutEpochs(RedisContenderState state, RedisContenderEvent event) {
        if (state.phase() instanceof Queued queued) {
            if (event instanceof HandedOff message) {
                return RedisContenderState.on(
                        state, new HandedOff(queued.epoch(), message.token(), message.time(), message.arrived()));
            }
            if (event instanceof Attempt) {
                return RedisContenderState.on(state, new Attempt(queued.epoch()));
            }
        }
        return RedisContenderState.on(state, event);
    }

    private static Variant machine(BiFunction<RedisContenderState, RedisContenderEvent, Step> machine) {
        return new Variant(machine, Variant.PRODUCTION.script(), Set.of(), Variant.PRODUCTION.renewal());
    }

    private static Variant renewal(Renewal renewal) {
        return new Variant(RedisContenderState::on, Variant.PRODUCTION.script(), Set.of(), renewal);
    }

    private static Variant flaw(Flaw flaw) {
        return new Variant(
                RedisContenderState::on, Variant.PRODUCTION.script(), Set.of(flaw), Variant.PRODUCTION.renewal());
    }

    private static Variant without(RedisContenderEffect effect) {
        return machine((state, event) -> {
            Step step = RedisContenderState.on(state, event);
            return new Step(
                    step.state(),
                    step.effects().stream().filter(each -> each != effect).toList());
        });
    }

    private static Variant script(RedisLockScript script, String code, String wrong) {
        String text = script.script().text();
        assertThat(text).contains(code);
        String changed = text.replace(code, wrong);
        return new Variant(
                RedisContenderState::on,
                each -> each == script ? changed : each.script().text(),
                Set.of(),
                Variant.PRODUCTION.renewal());
    }
}
