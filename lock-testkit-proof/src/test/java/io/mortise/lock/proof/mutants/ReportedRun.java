// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectIteration;

import io.mortise.lock.testkit.report.ConformanceReportSettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/**
 * A run of the conformance kit that wrote a report.
 *
 * @param failures exceptions of tests and of the class
 * @param console what the run printed
 */
record ReportedRun(List<Throwable> failures, String console) {
    static final String BROKEN_MUTANT = "S02: the client assumes twice the store's lease duration";
    static final String SILENT_HOLDER = "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant";
    static final List<String> TESTS =
            List.of("S01_clientsExcludeEachOther", SILENT_HOLDER, "S03_tokensIncreaseAcrossReleasesAndClients");
    static final String ALL_RULES = String.join(
                    ",",
                    IntStream.rangeClosed(1, 19)
                            .mapToObj(number -> String.format("S%02d", number))
                            .toList())
            + ",capabilities,call";

    /** A task that prints. */
    interface PrintingTask {
        void run() throws Exception;
    }

    /**
     * Runs tests of the kit, and writes their report.
     *
     * @param mutant the mutant to test; empty for a backend without a defect
     * @param tests names of the tests; empty for all
     * @param settings further configuration parameters
     */
    static ReportedRun of(
            Path report, Class<?> testClass, String mutant, List<String> tests, Map<String, String> settings)
            throws Exception {
        AtomicReference<EngineExecutionResults> results = new AtomicReference<>();
        DiscoverySelector[] selectors = tests.isEmpty()
                ? new DiscoverySelector[] {selectClass(testClass)}
                : tests.stream().map(test -> selector(testClass, test)).toArray(DiscoverySelector[]::new);
        String console = printed(() -> results.set(EngineTestKit.engine("junit-jupiter")
                .selectors(selectors)
                .configurationParameter(MutantConformance.MUTANT, mutant)
                .configurationParameter(ConformanceReportSettings.REPORT, report.toString())
                .configurationParameter("junit.jupiter.execution.parallel.enabled", String.valueOf(tests.isEmpty()))
                .configurationParameters(settings)
                .execute()));
        List<Throwable> failures = Objects.requireNonNull(results.get()).allEvents().failed().stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class)
                        .getThrowable()
                        .orElseThrow())
                .toList();
        return new ReportedRun(failures, console);
    }

    /** Selects the test; of a test with parameters that takes several seconds only the first execution. */
    private static DiscoverySelector selector(Class<?> testClass, String test) {
        DiscoverySelector whole = KitRun.selectTest(testClass, test);
        return test.equals(SILENT_HOLDER) ? selectIteration(whole, 0) : whole;
    }

    /** Returns what the task prints to the standard output. */
    static String printed(PrintingTask task) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            task.run();
        } finally {
            System.setOut(before);
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
