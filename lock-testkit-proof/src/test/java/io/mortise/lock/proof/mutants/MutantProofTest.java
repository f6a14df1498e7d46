// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Tests that the conformance kit rejects every mutant, and accepts the same backend without a defect. */
@Tag("once")
class MutantProofTest {
    /** Number of mutants tested in parallel; more than the cores, since the tests mostly wait. */
    private static final int PARALLEL_TRIALS = 6;

    private static final Path DOC = Path.of("..", "docs", "mutants.md");
    private static final String TABLE = "|---|---|---|\n";

    private static final Map<Mutant, Future<MutantTestResult>> TRIALS = new LinkedHashMap<>();
    private static final Map<String, Future<MutantTestResult>> CONTROLS = new LinkedHashMap<>();

    @BeforeAll
    static void startTrials() {
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL_TRIALS);
        for (Mutant mutant : Mutants.ALL) {
            TRIALS.put(mutant, pool.submit(inThreadGroup(() -> MutantTestResult.of(mutant, mutant.killer()))));
        }
        List<String> killers =
                Mutants.ALL.stream().map(Mutant::killer).distinct().toList();
        for (String killer : killers) {
            CONTROLS.put(killer, pool.submit(inThreadGroup(() -> MutantTestResult.of(Mutant.NONE, killer))));
        }
        pool.shutdown();
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
        return TRIALS.entrySet().stream()
                .map(trial -> DynamicTest.dynamicTest(
                        trial.getKey().toString(),
                        () -> assertFailed(trial.getKey(), trial.getValue().get())));
    }

    private static void assertFailed(Mutant mutant, MutantTestResult trial) {
        assertThat(trial.failedFor(mutant.rule(), mutant.killer()))
                .as(
                        "%s SURVIVES %s in %s: passed %s times, not verified %s times, failed otherwise with %s",
                        mutant, mutant.killer(), trial.took(), trial.succeeded(), trial.aborted(), trial.failures())
                .isTrue();
    }

    @TestFactory
    Stream<DynamicTest> theKitPassesWhatIsNotMutated() {
        return CONTROLS.entrySet().stream()
                .map(control -> DynamicTest.dynamicTest(
                        control.getKey(), () -> assertPassed(control.getValue().get())));
    }

    private static void assertPassed(MutantTestResult trial) {
        assertThat(trial.failures()).isEmpty();
        assertThat(trial.aborted()).as("not verified").isZero();
        assertThat(trial.succeeded()).as("passed").isPositive();
    }

    @Test
    void everyRuleHasAMutant() {
        Set<String> rules = Mutants.ALL.stream().map(Mutant::rule).collect(Collectors.toSet());
        assertThat(rules)
                .containsAll(IntStream.rangeClosed(1, 19)
                        .mapToObj(number -> String.format("S%02d", number))
                        .toList());
        assertThat(Mutants.ALL).extracting(Mutant::toString).doesNotHaveDuplicates();
    }

    /** Compares the table in docs/mutants.md with the mutants that {@link #theKitFails} tests. */
    @Test
    void theTableInTheDocsIsUpToDate() throws IOException {
        String table = Mutants.ALL.stream()
                .sorted(Comparator.comparing(Mutant::rule))
                .map(mutant -> "| %s | %s | `%s` |\n".formatted(mutant.rule(), mutant.defect(), mutant.killer()))
                .collect(Collectors.joining());
        String page = Files.readString(DOC);
        String head = page.substring(0, page.indexOf(TABLE) + TABLE.length());
        if (Boolean.getBoolean("mortise.mutants.write")) {
            Files.writeString(DOC, head + table);
        }
        assertThat(Files.readString(DOC))
                .as("run with -Dmortise.mutants.write=true")
                .isEqualTo(head + table);
    }
}
