// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Removed;
import io.mortise.lock.redlock.grant.RedlockContenderState.Step;
import io.mortise.lock.redlock.grant.RedlockWorld.Fault;
import io.mortise.lock.redlock.grant.RedlockWorld.Scope;
import io.mortise.lock.redlock.grant.RedlockWorld.Variant;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores the interleavings of the Redlock protocol: the production state machine and scripts, in a modelled world. */
@Tag("once")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RedlockExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("redlock");
    private static final ProtocolExplorer<Scope, RedlockWorld> EXPLORER = new ProtocolExplorer<>(
            RedlockWorld::start, scope -> scope.with(Variant.PRODUCTION), scope -> false, 1_000_000);

    /** No limit of rounds. */
    private static final int ANY = Integer.MAX_VALUE;

    private static final Scope WAITERS = scope("ww", 2);
    private static final Scope TRIERS = scope("tt", 2);
    private static final Scope SPLIT = scope("tt", ANY).withSilent(1);
    private static final Scope SPLIT_WAITERS = scope("ww", ANY).withSilent(1);

    /** Their first rounds leave masters with different counters. */
    private static final Scope HELD = scope("tt", 2).withForeign(2);

    private static final Scope LATE = scope("w", 2).withFaults(2, Fault.LATE_EXECUTION);
    private static final Scope LOST_REPLIES = scope("t", 1).withFaults(2, Fault.LOST_REPLY);
    private static final Scope RESTART = scope("tt", 1).withFaults(1, Fault.RESTART);

    /**
     * Returns a scope of contenders without faults.
     *
     * @param contenders a letter for each contender: w if it waits, t if it only tries
     * @param rounds the number of rounds after which a contender gives up
     */
    private static Scope scope(String contenders, int rounds) {
        List<Boolean> waits = contenders.chars().mapToObj(each -> each == 'w').toList();
        return new Scope(3, waits, false, rounds, 0, 0, 0, Set.of(), Variant.PRODUCTION);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void S01_S03_S08_S09_S11_theRulesHold(String row, Scope scope, List<String> reached) {
        Exploration<RedlockWorld> explored = EXPLORER.assertRulesHold(scope);
        assertThat(explored.situations()).containsKeys(reached.toArray(String[]::new));
        PAGE.assertShows("| " + row + " |", explored);
    }

    static Stream<Arguments> S01_S03_S08_S09_S11_theRulesHold() {
        return Stream.of(
                Arguments.of("two wait, 2 rounds", WAITERS, List.of("Holding", "StoringToken")),
                Arguments.of("two wait and may give up, 1 round", scope("ww", 1).withGivingUp(), List.of("given up")),
                Arguments.of("two wait, a master is silent", SPLIT_WAITERS, List.of("Holding")),
                Arguments.of("two try, 2 rounds", TRIERS, List.of("Holding")),
                Arguments.of("two try, a master is silent", SPLIT, List.of("Pausing", "Holding")),
                Arguments.of("two try, another has the lock first, 2 rounds", HELD, List.of("Pausing", "Holding")),
                Arguments.of(
                        "one waits, one tries, another has the lock first, 1 round",
                        scope("wt", 1).withForeign(2),
                        List.of("Holding")),
                Arguments.of(
                        "one waits, 2 rounds, two late executions",
                        LATE,
                        List.of("late", "cleanup", "release repeated")),
                Arguments.of(
                        "two try, 1 round, a late execution",
                        scope("tt", 1).withFaults(1, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup")),
                Arguments.of(
                        "two try, 1 round, a lost reply",
                        scope("tt", 1).withFaults(1, Fault.LOST_REPLY),
                        List.of("cleanup", "release repeated")),
                Arguments.of("one tries, 1 round, two lost replies", LOST_REPLIES, List.of("release repeated")),
                Arguments.of("two try, 1 round, a restart", RESTART, List.of("Holding")),
                Arguments.of(
                        "one waits, one tries, 1 round, a restart",
                        scope("wt", 1).withFaults(1, Fault.RESTART),
                        List.of("Holding")),
                Arguments.of(
                        "two try, 1 round, an expiry", scope("tt", 1).withFaults(1, Fault.EXPIRY), List.of("Holding")),
                Arguments.of(
                        "two try, a master is silent, 2 rounds, an expiry",
                        scope("tt", 2).withSilent(1).withFaults(1, Fault.EXPIRY),
                        List.of("Pausing", "Holding")),
                Arguments.of(
                        "one waits, one tries, 1 round, an expiry",
                        scope("wt", 1).withFaults(1, Fault.EXPIRY),
                        List.of("Holding")));
    }

    /** The exploration is worth what it finds: each defect is one that the protocol could have. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectIsFound(Defect<Scope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<Scope>> aDefectIsFound() {
        return Stream.of(
                new Defect<>(
                        "a late yield deletes the vote of a later round",
                        "S01",
                        HELD.with(script(
                                RedlockScript.YIELD_VOTE,
                                "and string.match(value, ' round=(%d+) token=%d+$') == round",
                                ""))),
                new Defect<>(
                        "a late acquire is executed",
                        "S08",
                        LATE.with(script(RedlockScript.ACQUIRE, "now > tonumber(not_after)", "false"))),
                new Defect<>(
                        "no cleanup after an unknown outcome",
                        "S08",
                        LATE.with(without(RedlockContenderEffect.StartCleanup.class))),
                new Defect<>(
                        "the token is not stored",
                        "S03",
                        HELD.with(script(
                                RedlockScript.RAISE_TOKEN,
                                "if tonumber(state[2] or 0) < tonumber(token) then",
                                "if false then"))),
                new Defect<>(
                        "a restarted master votes",
                        "S03",
                        RESTART.with(script(RedlockScript.ACQUIRE, "if state[1] ~= run then", "if false then"))),
                new Defect<>(
                        "the votes of a lost round are kept",
                        "S11",
                        SPLIT_WAITERS.with(without(RedlockContenderEffect.SendYield.class))),
                new Defect<>("split votes are not repeated", "S09", SPLIT.with(withoutPauses())),
                new Defect<>(
                        "a release wakes nobody",
                        "S11",
                        WAITERS.with(script(RedlockScript.RELEASE, "more_dead = wake_first(now)", ""))),
                new Defect<>("each end says that there was a grant", "S05", TRIERS.with(machine((state, event) -> {
                    Step step = RedlockContenderState.on(state, event);
                    return new Step(
                            step.state(),
                            step.effects().stream()
                                    .map(each -> each instanceof ReportEnded ? new ReportEnded(true) : each)
                                    .toList());
                }))),
                new Defect<>(
                        "a repeated release that finds nothing says so",
                        "S05",
                        LOST_REPLIES.with(machine((state, event) -> RedlockContenderState.on(
                                state,
                                event instanceof Removed removed
                                        ? new Removed(
                                                removed.master(),
                                                removed.forCleanup(),
                                                false,
                                                removed.held(),
                                                removed.epoch(),
                                                removed.time())
                                        : event)))));
    }

    private static Variant machine(BiFunction<RedlockContenderState, RedlockContenderEvent, Step> machine) {
        return new Variant(machine, Variant.PRODUCTION.script());
    }

    private static Variant without(Class<? extends RedlockContenderEffect> dropped) {
        return machine((state, event) -> {
            Step step = RedlockContenderState.on(state, event);
            return new Step(
                    step.state(),
                    step.effects().stream()
                            .filter(effect -> !dropped.isInstance(effect))
                            .toList());
        });
    }

    /** An attempt that does not wait has no time to repeat a round. */
    private static Variant withoutPauses() {
        return machine((state, event) -> RedlockContenderState.on(
                state,
                event instanceof RedlockContenderEvent.Attempt attempt
                        ? new RedlockContenderEvent.Attempt(attempt.validUntil(), new MonotonicInstant(-1))
                        : event));
    }

    /** A change of this script, and of each other one that has the code too. */
    private static Variant script(RedlockScript script, String code, String wrong) {
        assertThat(script.script().text()).contains(code);
        Map<RedlockScript, String> texts = new EnumMap<>(RedlockScript.class);
        for (RedlockScript each : RedlockScript.values()) {
            texts.put(each, each.script().text().replace(code, wrong));
        }
        return new Variant(RedlockContenderState::on, texts::get);
    }
}
