// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs random operations of several clients on several locks, while faults are injected, and compares the results with a
 * model of the rules.
 *
 * <p>The system property {@code mortise.kit.minutes} lets it run longer than the default of one sequence for each of
 * {@link #PARALLEL} threads, and {@code mortise.kit.seed} repeats the sequence of a failure.
 */
interface RandomOperationsContract extends Contract {
    /** Number of sequences that run at the same time, each with its own clients and locks. */
    int PARALLEL = 6;

    /** Number of operations in a sequence. */
    int LENGTH = 40;

    @Test
    @Timeout(value = 1, unit = TimeUnit.DAYS) // each operation has its own limit, and a user chooses how many there are
    default void S01_randomOperationsAgreeWithTheModel() throws Exception {
        Long repeated = Long.getLong("mortise.kit.seed");
        if (repeated != null) {
            new RandomOperationsRunner(fixture(), repeated, LENGTH).run();
            return;
        }
        long start = System.nanoTime();
        Duration duration = Duration.ofMinutes(Long.getLong("mortise.kit.minutes", 0));
        runRounds(fixture(), () -> DurationAssertions.since(start).compareTo(duration) < 0);
    }

    /** Runs sequences side by side, and more of them as long as the condition is true, each time with a backend that is closed then. */
    static void runRounds(ContractTestFixture fixture, BooleanSupplier more) throws InterruptedException {
        runSideBySide(fixture);
        while (more.getAsBoolean()) {
            try (ContractTestFixture round = fixture.another()) {
                runSideBySide(round);
            }
        }
    }

    private static void runSideBySide(ContractTestFixture fixture) throws InterruptedException {
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < PARALLEL; i++) {
            running.add(fixture.start(() -> {
                new RandomOperationsRunner(fixture, ThreadLocalRandom.current().nextLong(), LENGTH).run();
                return null;
            }));
        }
        AssertionError failure = null;
        for (Future<?> one : running) {
            try {
                one.get(); // its operations are limited
            } catch (ExecutionException e) {
                if (failure == null) {
                    failure = new AssertionError(String.valueOf(e.getMessage()), e.getCause());
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
