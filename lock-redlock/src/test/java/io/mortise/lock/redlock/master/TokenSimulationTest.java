// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.master.TokenSimulation.Faults;
import io.mortise.lock.redlock.master.TokenSimulation.Grant;
import io.mortise.lock.redlock.master.TokenSimulation.Rules;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that fencing tokens increase and holders exclude each other in many random simulations.
 *
 * <p>Seeds are consecutive numbers, so a failed run can be repeated.
 */
@Tag("once")
@Tag("long")
class TokenSimulationTest {
    private static final int TRIALS = 5_000;
    private static final Faults ALL = new Faults(true, true);

    private static boolean ordersTokens(List<Grant> grants) {
        for (Grant earlier : grants) {
            for (Grant later : grants) {
                boolean follows = earlier.grantedAt() <= later.requestedAt();
                boolean same = !earlier.equals(later) && earlier.token() == later.token();
                if (same || (follows && later.token() <= earlier.token())) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean excludes(List<Grant> grants) {
        for (Grant one : grants) {
            for (Grant other : grants) {
                if (!one.equals(other)
                        && one.grantedAt() < other.validUntil()
                        && other.grantedAt() < one.validUntil()) {
                    return false;
                }
            }
        }
        return true;
    }

    private static List<Grant> run(long seed, int nodes, Rules rules, Faults faults) {
        return new TokenSimulation(seed, nodes, rules, faults).run();
    }

    /** Returns the seeds of a test; its simulations run side by side. */
    private static LongStream seeds() {
        return LongStream.range(0, TRIALS).parallel();
    }

    private static boolean isDisordered(Rules rules) {
        return seeds().anyMatch(seed -> !ordersTokens(run(seed, 3, rules, ALL)));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5})
    void S3_tokensIncreaseDespiteAllFaults(int nodes) {
        assertThat(seeds().filter(seed -> !ordersTokens(run(seed, nodes, Rules.ALL, ALL))))
                .as("seeds of failed runs")
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5})
    void S1_noTwoHoldersWhileKeysLastWhateverRestarts(int nodes) {
        assertThat(seeds().filter(seed -> !excludes(run(seed, nodes, Rules.ALL, new Faults(false, true)))))
                .as("seeds of failed runs")
                .isEmpty();
    }

    @Test
    void simulationGrantsTheLockManyTimes() {
        double grants = LongStream.range(0, 1_000)
                .mapToInt(seed -> run(seed, 3, Rules.ALL, ALL).size())
                .average()
                .orElseThrow();
        assertThat(grants).isGreaterThan(4);
    }

    @Test
    void S3_tokensDecreaseWithoutTheTokenRound() {
        assertThat(isDisordered(new Rules(false, true, true, true, true))).isTrue();
    }

    @Test
    void S3_raisingCountersOfOthersBreaksTheOrder() {
        assertThat(isDisordered(new Rules(true, false, true, true, true))).isTrue();
    }

    @Test
    void S3_tokensDecreaseWithoutQuarantine() {
        assertThat(isDisordered(new Rules(true, true, false, true, true))).isTrue();
    }

    @Test
    void S3_tokensDecreaseWithoutRestoringCounters() {
        assertThat(isDisordered(new Rules(true, true, true, false, true))).isTrue();
    }

    private static boolean isShared(Rules rules, Faults faults) {
        return seeds().anyMatch(seed -> !excludes(run(seed, 3, rules, faults)));
    }

    @Test
    void S1_twoHoldersWithoutQuarantine() {
        assertThat(isShared(new Rules(true, true, false, true, true), new Faults(false, true)))
                .isTrue();
    }

    @Test
    void S1_twoHoldersIfALateYieldDeletesTheVoteOfALaterRound() {
        assertThat(isShared(new Rules(true, true, true, true, false), new Faults(false, false)))
                .isTrue();
    }
}
