// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectIteration;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.mortise.lock.testkit.report.RunSettings;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/**
 * The result of running one test of the conformance kit on one mutant.
 *
 * @param succeeded number of passed executions
 * @param failures exceptions of the failed executions
 * @param aborted number of executions reported as not verified
 * @param took running time of the test
 */
record MutantTestResult(long succeeded, List<Throwable> failures, long aborted, Duration took) {
    static MutantTestResult of(Mutant mutant, String test) {
        long start = System.nanoTime();
        EngineExecutionResults results = EngineTestKit.engine("junit-jupiter")
                .selectors(firstOf(method(test)))
                .configurationParameter(MutantConformance.MUTANT, mutant.toString())
                .configurationParameter(RunSettings.REPORT, "none")
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false") // one thread group a trial
                .execute();
        return new MutantTestResult(
                results.testEvents().succeeded().count(),
                results.testEvents().failed().stream()
                        .map(MutantTestResult::failure)
                        .toList(),
                results.testEvents().aborted().count(),
                Duration.ofNanos(System.nanoTime() - start));
    }

    /** Selects the test, or only its first iteration, for the blocking API, if it is parameterized: one failure is enough. */
    private static DiscoverySelector firstOf(Method test) {
        DiscoverySelector whole = selectMethod(MutantConformance.class, test);
        return test.isAnnotationPresent(ParameterizedTest.class) ? selectIteration(whole, 0) : whole;
    }

    private static Method method(String test) {
        return Arrays.stream(MutantConformance.class.getMethods())
                .filter(method -> method.getName().equals(test))
                .findAny()
                .orElseThrow(() -> new AssertionError("the kit has no test " + test));
    }

    private static Throwable failure(Event event) {
        return event.getRequiredPayload(TestExecutionResult.class)
                .getThrowable()
                .orElseThrow();
    }

    /**
     * Returns whether an assertion or the time limit of the test failed for the rule; other exceptions do not show that the kit
     * detects the defect.
     */
    boolean failedFor(String rule, String test) {
        return failures.stream()
                .anyMatch(failure -> failure instanceof TimeoutException
                        ? test.startsWith(rule + "_")
                        : failure instanceof AssertionError && names(rule, test, failure));
    }

    /** Returns whether the failure is about the rule; a test of several rules names the broken rule in its message. */
    private static boolean names(String rule, String test, Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return test.startsWith(rule + "_") || message.startsWith(rule + ":") || message.contains("[" + rule);
    }
}
