// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the core in hundreds of simulated random schedules. The seeds are fixed: {@code -Dmortise.sim.seed=N} repeats one
 * schedule, {@code -Dmortise.sim.runs=N} sets their number.
 */
class SimulationTest {
    private static final int RUNS = Integer.getInteger("mortise.sim.runs", 500);

    @Test
    @Timeout(value = 9, unit = TimeUnit.MINUTES) // for longer runs; the usual one takes seconds
    void S01_to_S17_holdInEverySchedule() {
        Long one = Long.getLong("mortise.sim.seed");
        long[] seeds =
                one != null ? new long[] {one} : LongStream.range(0, RUNS).toArray();
        long begun = System.nanoTime();
        long steps = Arrays.stream(seeds)
                .parallel()
                .map(seed -> play(seed, SimFault.NONE))
                .sum();
        System.out.printf(
                "simulation: %d schedules, %d steps, %d ms%n",
                seeds.length, steps, (System.nanoTime() - begun) / 1_000_000);
    }

    private static long play(long seed, SimFault fault) {
        SimWorld world = new SimWorld(seed, fault, (seed & 1) == 1, (seed & 2) == 2);
        try {
            world.play();
        } catch (RuntimeException e) {
            throw new AssertionError("the simulation failed, seed " + seed, e);
        }
        return world.steps;
    }

    /** Checks that the simulation detects each defect, by the rule that the defect violates. */
    @ParameterizedTest
    @CsvSource({
        "EXPIRES_EARLY, S01 S07",
        "TOKEN_REPEATS, S03",
        "RELEASE_REMOVES_HOLDER, S05",
        "RENEWAL_RESURRECTS, S06",
        "NO_HINT_NO_FALLBACK, S11 S15",
        "LATE_REQUEST_SERVED, S08",
        "DEADLINE_FROM_REPLY, S02 S07",
        "NO_REQUEST_TIMEOUT, S15 S09 S08 S17",
        "WITHDRAWAL_NOT_DONE, S08",
        "QUEUE_BACKWARDS, S12",
    })
    void aDefectIsDetectedByTheRuleThatItViolates(SimFault fault, String rules) {
        for (long seed = 0; seed < 400; seed++) {
            try {
                play(seed, fault);
            } catch (AssertionError caught) {
                assertThat(rules)
                        .as(caught.getMessage())
                        .contains(String.valueOf(caught.getMessage()).substring(0, 3));
                return;
            }
        }
        fail("400 schedules did not notice " + fault);
    }
}
