// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.mortise.lock.testkit.report.ConformanceReportSettings;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/**
 * The results of some tests of the kit, without a report.
 *
 * @param passed number of executions that passed
 * @param failed messages of those that failed
 * @param aborted messages of those that could not check their rule
 */
record KitRun(long passed, List<String> failed, List<String> aborted) {
    /** Runs the tests side by side. */
    static KitRun of(Class<?> conformance, String... tests) throws Exception {
        DiscoverySelector[] selectors =
                Arrays.stream(tests).map(test -> selectTest(conformance, test)).toArray(DiscoverySelector[]::new);
        // On a thread that does not belong to a pool of JUnit.
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            return thread.submit(() -> of(request(8, selectors).execute())).get();
        } finally {
            thread.shutdown();
        }
    }

    /**
     * Returns a request to run tests of the kit without a report; further configuration parameters can be added.
     *
     * @param parallelism how many tests may run at once
     */
    static EngineTestKit.Builder request(int parallelism, DiscoverySelector... selectors) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectors)
                .configurationParameter(ConformanceReportSettings.REPORT, "none")
                .configurationParameter("junit.jupiter.execution.parallel.enabled", String.valueOf(parallelism > 1))
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter(
                        "junit.jupiter.execution.parallel.config.fixed.parallelism", String.valueOf(parallelism))
                .configurationParameter(
                        "junit.jupiter.execution.parallel.config.executor-service", "WORKER_THREAD_POOL");
    }

    /** Selects a test by its name. */
    static DiscoverySelector selectTest(Class<?> conformance, String test) {
        return selectMethod(conformance, method(conformance, test));
    }

    /** Returns the method of a test. */
    static Method method(Class<?> conformance, String test) {
        return Arrays.stream(conformance.getMethods())
                .filter(method -> method.getName().equals(test))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException(conformance.getName() + " has no test " + test));
    }

    private static KitRun of(EngineExecutionResults results) {
        return new KitRun(
                results.testEvents().succeeded().count(),
                messages(results, Status.FAILED),
                messages(results, Status.ABORTED));
    }

    private static List<String> messages(EngineExecutionResults results, Status status) {
        return results.allEvents().finished().stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .filter(result -> result.getStatus() == status)
                .map(result -> result.getThrowable().map(Throwable::toString).orElse(""))
                .toList();
    }
}
