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
        DiscoverySelector[] selectors = Arrays.stream(tests)
                .flatMap(test -> methods(conformance, test).stream())
                .map(method -> selectMethod(conformance, method))
                .toArray(DiscoverySelector[]::new);
        // On a thread that does not belong to a pool of JUnit.
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            return thread.submit(() -> of(EngineTestKit.engine("junit-jupiter")
                            .selectors(selectors)
                            .configurationParameter(ConformanceReportSettings.REPORT, "none")
                            .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                            .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                            .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", "8")
                            .configurationParameter(
                                    "junit.jupiter.execution.parallel.config.executor-service", "WORKER_THREAD_POOL")
                            .execute()))
                    .get();
        } finally {
            thread.shutdown();
        }
    }

    private static List<Method> methods(Class<?> conformance, String test) {
        List<Method> named = Arrays.stream(conformance.getMethods())
                .filter(method -> method.getName().equals(test))
                .toList();
        if (named.isEmpty()) {
            throw new IllegalArgumentException(conformance.getName() + " has no test " + test);
        }
        return named;
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
