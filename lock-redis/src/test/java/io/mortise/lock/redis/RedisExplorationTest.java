// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.redis.RedisContenderEffect.Plain;
import io.mortise.lock.redis.RedisContenderEvent.Attempt;
import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderState.Queued;
import io.mortise.lock.redis.RedisContenderState.Step;
import io.mortise.lock.redis.RedisWorld.Fault;
import io.mortise.lock.redis.RedisWorld.Scope;
import io.mortise.lock.redis.RedisWorld.Variant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores every interleaving of the Redis protocol: the production state machine and scripts, in a modelled world. */
@Tag("exploration")
@Tag("once")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RedisExplorationTest {
    private static final boolean DEEP =
            System.getProperty("mortise.explore", "").equals("deep");
    private static final int MOST_STATES = 20_000_000;
    private static final Set<Fault> ALL = EnumSet.allOf(Fault.class);
    private static final Set<Fault> CUT = Set.of(Fault.CUT);
    private static final Set<Fault> NONE = Set.of();

    /** Explored without the times after which a waiter asks again, and without expiry: they hide each lost message. */
    @ParameterizedTest(name = "contenders of clients {0}, faults {1}: {2}")
    @MethodSource
    void S11_noWakeUpIsLost(String clientOfContender, int faults, Set<Fault> possible) {
        Exploration<RedisWorld> explored =
                keepsTheRules(scope(clientOfContender, faults, possible, Variant.PRODUCTION));
        assertThat(explored.stuck(Kind.PROGRESS)).isEmpty();
        assertThat(explored.situations()).containsKeys("Queued", "Holding", "given up");
    }

    static Stream<Arguments> S11_noWakeUpIsLost() {
        return Stream.of(
                Arguments.of("00", 0, NONE),
                Arguments.of("01", 0, NONE),
                Arguments.of("000", 0, NONE),
                Arguments.of("001", 0, NONE),
                Arguments.of("00", 1, CUT),
                Arguments.of("01", 1, CUT));
    }

    @ParameterizedTest(name = "contenders of clients {0}, faults {1}: any")
    @CsvSource({"0, 2", "00, 1", "01, 1"})
    void S01_S03_S08_everyFaultKeepsTheRules(String clientOfContender, int faults) {
        everyFault(clientOfContender, faults);
    }

    /** A late acquire, a late removal and a repetition spare the grant that is kept for the delay. */
    @ParameterizedTest(name = "contenders of clients {0}, faults {1}: any")
    @CsvSource({"0, 2", "01, 0"})
    void S05_delayedReleasesKeepTheRules(String clientOfContender, int faults) {
        Scope scope = scope(clientOfContender, faults, ALL, Variant.PRODUCTION);
        Exploration<RedisWorld> explored = keepsTheRules(
                new Scope(scope.clients(), scope.clientOfContender(), faults, ALL, true, scope.variant()));
        assertThat(explored.stuck(Kind.PROGRESS, Kind.FALLBACK)).isEmpty();
        assertThat(explored.situations()).containsKey("kept for a delay");
    }

    /** For {@code -Dmortise.explore=deep}: minutes, and gigabytes of memory. */
    @ParameterizedTest(name = "contenders of clients {0}, faults {1}: any")
    @CsvSource({"0, 3", "012, 0", "01, 2"})
    @EnabledIfSystemProperty(named = "mortise.explore", matches = "deep")
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void S01_S03_S08_severalFaultsKeepTheRules(String clientOfContender, int faults) {
        everyFault(clientOfContender, faults);
    }

    private static void everyFault(String clientOfContender, int faults) {
        Exploration<RedisWorld> explored = keepsTheRules(scope(clientOfContender, faults, ALL, Variant.PRODUCTION));
        assertThat(explored.stuck(Kind.PROGRESS, Kind.FALLBACK)).isEmpty();
        if (faults > 0) {
            assertThat(explored.situations()).containsKeys("Unsettled", "CleaningUp", "Holding");
        }
    }

    private static Exploration<RedisWorld> keepsTheRules(Scope scope) {
        Exploration<RedisWorld> explored = Exploration.of(RedisWorld.start(scope), MOST_STATES);
        assertThat(explored.counterexample()).isEmpty();
        assertThat(explored.isComplete()).isTrue();
        if (!DEEP && (scope.possible().isEmpty() || scope.possible().equals(ALL))) {
            assertThat(page()).contains(row(scope, explored));
        }
        return explored;
    }

    private static String row(Scope scope, Exploration<RedisWorld> explored) {
        return String.format(
                Locale.ROOT,
                "| %d | %d | %d | %s | %,d | %,d |",
                scope.clientOfContender().size(),
                scope.clients(),
                scope.faults(),
                scope.delayedReleases() ? "yes" : "no",
                explored.states(),
                explored.transitions());
    }

    private static String page() {
        try {
            return Files.readString(Path.of("../docs/protocols/redis.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The exploration is worth what it finds: each defect is one that the protocol could have. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectIsFound(String defect, Scope scope) {
        Exploration<RedisWorld> explored = Exploration.of(RedisWorld.start(scope), MOST_STATES);
        Optional<String> found = explored.counterexample().or(() -> explored.stuck(Kind.PROGRESS));
        assertThat(found).as(explored.toString()).isNotEmpty();
    }

    static Stream<Arguments> aDefectIsFound() {
        Set<Fault> cutAndLate = Set.of(Fault.CUT, Fault.LATE_EXECUTION);
        return Stream.of(
                Arguments.of(
                        "a late acquire is executed",
                        scope(
                                "0",
                                1,
                                cutAndLate,
                                script(RedisLockScript.ACQUIRE, "now > tonumber(not_after)", "false"))),
                Arguments.of(
                        "a release deletes any grant",
                        scope(
                                "01",
                                0,
                                NONE,
                                script(RedisLockScript.RELEASE, "string.sub(value, 1, #attempt) == attempt", "true"))),
                Arguments.of(
                        "a release serves no waiter",
                        scope(
                                "01",
                                0,
                                NONE,
                                script(RedisLockScript.RELEASE, "if held or not value then", "if false then"))),
                Arguments.of(
                        "a repeated acquire does not know its grant",
                        scope(
                                "0",
                                1,
                                CUT,
                                script(
                                        RedisLockScript.ACQUIRE,
                                        "if value and string.sub(value, 1, #attempt) == attempt then",
                                        "if false then"))),
                Arguments.of(
                        "a withdrawal leaves the queue entry",
                        scope("01", 0, NONE, script(RedisLockScript.RELEASE, "was_queued = leave(attempt)", ""))),
                Arguments.of(
                        "a token is the time alone",
                        scope(
                                "01",
                                1,
                                Set.of(Fault.CLOCK_SET_BACK),
                                script(RedisLockScript.ACQUIRE, "return last + 1, token", "return now, digits(now)"))),
                Arguments.of(
                        "a hand-off is not told",
                        scope(
                                "01",
                                0,
                                NONE,
                                script(RedisLockScript.RELEASE, "publish_signed(first, 'G '", "local _ = ('G '"))),
                Arguments.of(
                        "no cleanup after an unknown outcome", scope("0", 1, cutAndLate, without(Plain.START_CLEANUP))),
                Arguments.of("a wake-up is ignored", scope("01", 0, NONE, without(Plain.WAKE_WAITER))),
                Arguments.of(
                        "no wake-up on a new connection",
                        scope("01", 1, CUT, new Variant(RedisContenderState::on, Variant.PRODUCTION.script(), false))),
                Arguments.of(
                        "a message from another connection is used",
                        scope(
                                "01",
                                1,
                                CUT,
                                new Variant(RedisExplorationTest::withoutEpochs, Variant.PRODUCTION.script(), true))));
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

    private static Variant without(RedisContenderEffect effect) {
        return new Variant(
                (state, event) -> {
                    Step step = RedisContenderState.on(state, event);
                    return new Step(
                            step.state(),
                            step.effects().stream()
                                    .filter(each -> each != effect)
                                    .toList());
                },
                Variant.PRODUCTION.script(),
                true);
    }

    private static Variant script(RedisLockScript script, String code, String wrong) {
        String text = script.script().text();
        assertThat(text).contains(code);
        String changed = text.replace(code, wrong);
        return new Variant(
                RedisContenderState::on,
                each -> each == script ? changed : each.script().text(),
                true);
    }

    /** @param clientOfContender a digit for each contender */
    private static Scope scope(String clientOfContender, int faults, Set<Fault> possible, Variant variant) {
        List<Integer> clients =
                clientOfContender.chars().mapToObj(digit -> digit - '0').toList();
        return new Scope(
                1 + clients.stream().mapToInt(Integer::intValue).max().orElse(0),
                clients,
                faults,
                possible,
                false,
                variant);
    }
}
