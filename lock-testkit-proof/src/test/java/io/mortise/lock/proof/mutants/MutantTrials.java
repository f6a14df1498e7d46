// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.PauseMonitor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/**
 * Tests that the conformance kit rejects each mutant of a list, and accepts the same backends without a defect.
 *
 * <p>By default each mutant meets the one test that must fail. With the system property {@code mortise.mutants.kit=whole} it
 * meets all tests of the kit, and {@code target/whole-kit-NAME.md} shows which of them failed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MutantTrials {
    private static final boolean WHOLE_KIT = "whole".equals(System.getProperty("mortise.mutants.kit"));

    /** Number of mutants tested in parallel; more than the cores, since the tests mostly wait. A whole kit is busier. */
    private static final int PARALLEL_TRIALS = WHOLE_KIT ? 2 : 6;

    private static final int MOST_RUNS = 3;

    static final String TABLE = "|---|---|---|\n";

    private final List<? extends Mutant> mutants;
    private final Map<Mutant, Future<MutantTestResult>> trials = new LinkedHashMap<>();
    private final Map<String, Future<MutantTestResult>> controls = new LinkedHashMap<>();

    MutantTrials(List<? extends Mutant> mutants) {
        this.mutants = mutants;
    }

    @BeforeAll
    void startTrials() throws IOException {
        PauseMonitor.start();
        if (WHOLE_KIT) {
            Files.writeString(table(), "| rule | defect | failed by |\n" + TABLE);
        }
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL_TRIALS);
        for (Mutant mutant : mutants) {
            trials.put(mutant, pool.submit(inThreadGroup(() -> trial(mutant))));
        }
        for (Mutant mutant : mutants) {
            Class<?> kit = mutant.control();
            controls.computeIfAbsent(
                    mutant.killer() + " of " + kit.getSimpleName(),
                    control -> pool.submit(inThreadGroup(() -> repeatIfPaused(
                            () -> MutantTestResult.of(WrapperMutant.NONE, kit, mutant.killer()),
                            MutantTrials::isPassed))));
        }
        pool.shutdown();
    }

    private MutantTestResult trial(Mutant mutant) throws Exception {
        MutantTestResult result = repeatIfPaused(
                () -> WHOLE_KIT ? MutantTestResult.ofWholeKit(mutant) : MutantTestResult.of(mutant, mutant.killer()),
                trial -> isFound(mutant, trial));
        if (WHOLE_KIT) {
            writeWhatTheWholeKitDetects(mutant, result);
        }
        return result;
    }

    /** Repeats a trial whose result is not the expected one if this JVM stood still: it may need a time that has passed then. */
    private static MutantTestResult repeatIfPaused(
            Callable<MutantTestResult> trial, Predicate<MutantTestResult> expected) throws Exception {
        for (int run = 1; ; run++) {
            long begun = System.nanoTime();
            MutantTestResult result = trial.call();
            if (expected.test(result)
                    || run == MOST_RUNS
                    || PauseMonitor.since(begun).isZero()) {
                return result;
            }
        }
    }

    private static boolean isFound(Mutant mutant, MutantTestResult trial) {
        return WHOLE_KIT ? trial.isDetected() : trial.failedFor(mutant.rule());
    }

    /** Runs each trial in a separate thread group, so that its threads can be distinguished from those of other trials. */
    private static Callable<MutantTestResult> inThreadGroup(Callable<MutantTestResult> trial) {
        return () -> {
            CompletableFuture<MutantTestResult> done = new CompletableFuture<>();
            Runnable task = () -> {
                try {
                    done.complete(trial.call());
                } catch (Exception | Error e) {
                    done.completeExceptionally(e);
                }
            };
            new Thread(new ThreadGroup("trial"), task, "trial").start();
            return done.get();
        };
    }

    @TestFactory
    Stream<DynamicTest> theKitFails() {
        return trials.entrySet().stream()
                .map(trial -> DynamicTest.dynamicTest(
                        trial.getKey().toString(),
                        () -> assertFailed(trial.getKey(), trial.getValue().get())));
    }

    private static void assertFailed(Mutant mutant, MutantTestResult trial) {
        assertThat(isFound(mutant, trial))
                .as(
                        "%s SURVIVES %s in %s: passed %s times, not verified %s times, failed otherwise with %s",
                        mutant, mutant.killer(), trial.took(), trial.succeeded(), trial.aborted(), trial.failures())
                .isTrue();
    }

    @TestFactory
    Stream<DynamicTest> theKitPassesWhatIsNotMutated() {
        return controls.entrySet().stream()
                .map(control -> DynamicTest.dynamicTest(
                        control.getKey(),
                        () -> assertThat(control.getValue().get()).matches(MutantTrials::isPassed)));
    }

    private static boolean isPassed(MutantTestResult trial) {
        return trial.failures().isEmpty() && trial.aborted() == 0 && trial.succeeded() > 0;
    }

    private synchronized void writeWhatTheWholeKitDetects(Mutant mutant, MutantTestResult result) throws IOException {
        String tests = result.failures().stream()
                .filter(MutantTestResult.Failure::isDetection)
                .map(MutantTestResult.Failure::test)
                .distinct()
                .collect(Collectors.joining(", "));
        String row = "| %s | %s | %s |\n"
                .formatted(mutant.rule(), mutant.defect(), tests.isEmpty() ? "**survives**" : tests);
        Files.writeString(table(), row, StandardOpenOption.APPEND);
    }

    private Path table() {
        return Path.of("target", "whole-kit-" + getClass().getSimpleName() + ".md");
    }
}
