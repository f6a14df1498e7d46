// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectIteration;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

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
 * What one test of the kit said about one mutant.
 *
 * @param succeeded how often it passed
 * @param failures with what it failed
 * @param aborted how often it was not verified
 * @param took how long it ran
 */
record MutantTestResult(long succeeded, List<Throwable> failures, long aborted, Duration took) {
    static MutantTestResult of(Mutant mutant, String test) {
        long start = System.nanoTime();
        EngineExecutionResults results = EngineTestKit.engine("junit-jupiter")
                .selectors(firstOf(method(test)))
                .configurationParameter(MutantConformance.MUTANT, mutant.toString())
                .execute();
        return new MutantTestResult(
                results.testEvents().succeeded().count(),
                results.testEvents().failed().stream()
                        .map(MutantTestResult::failure)
                        .toList(),
                results.testEvents().aborted().count(),
                Duration.ofNanos(System.nanoTime() - start));
    }

    /** Of a test over both styles of the API the blocking one: one failure is enough. */
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

    /** By an assertion or a time limit of the test, in the name of the rule: what else goes wrong proves nothing. */
    boolean failedFor(String rule, String test) {
        return failures.stream()
                .anyMatch(failure -> failure instanceof TimeoutException
                        ? test.startsWith(rule + "_")
                        : failure instanceof AssertionError && names(rule, test, failure));
    }

    /** A test that tells a story of several rules says in its message which one broke. */
    private static boolean names(String rule, String test, Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return test.startsWith(rule + "_") || message.startsWith(rule + ":") || message.contains("[" + rule);
    }
}
