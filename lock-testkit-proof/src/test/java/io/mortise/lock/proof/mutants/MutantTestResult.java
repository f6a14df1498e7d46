// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectIteration;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.Event;

/**
 * The result of running one test of the conformance kit, or all of them, on one mutant.
 *
 * @param succeeded number of passed executions
 * @param failures the failed executions
 * @param aborted number of executions reported as not verified or not claimed
 * @param took running time
 */
record MutantTestResult(long succeeded, List<Failure> failures, long aborted, Duration took) {
    /**
     * A failed execution of a test.
     *
     * @param test name of the method
     * @param cause the exception
     */
    record Failure(String test, Throwable cause) {
        private static Failure of(Event event) {
            String test = event.getTestDescriptor()
                    .getSource()
                    .map(source -> ((MethodSource) source).getMethodName())
                    .orElseThrow();
            return new Failure(
                    test,
                    event.getRequiredPayload(TestExecutionResult.class)
                            .getThrowable()
                            .orElseThrow());
        }

        /**
         * Returns whether an assertion or a time limit failed; another exception does not show that the kit detects the
         * defect.
         */
        boolean isDetection() {
            return cause instanceof TimeoutException || cause instanceof AssertionError;
        }

        /** Returns whether the failure is about the rule; a test of several rules names the broken rule in its message. */
        boolean names(String rule) {
            String message = String.valueOf(cause.getMessage());
            boolean named = message.startsWith(rule + ":") || message.contains("[" + rule);
            return test.startsWith(rule + "_") || (cause instanceof AssertionError && named);
        }
    }

    /**
     * Runs one test. Of a parameterized one, a mutant that wraps meets only the first iteration, for the blocking API: one failure
     * is enough. Tries one backend with the defect after the other, until the test fails.
     */
    static MutantTestResult of(Mutant mutant, String test) throws IOException {
        MutantTestResult all = new MutantTestResult(0, List.of(), 0, Duration.ZERO);
        for (Class<?> kit : mutant.conformance()) {
            all = all.and(of(mutant, kit, test));
            if (!all.failures().isEmpty()) {
                break;
            }
        }
        return all;
    }

    /** Runs one test as {@link #of(Mutant, String)} does, in the given class. */
    static MutantTestResult of(Mutant mutant, Class<?> kit, String test) {
        DiscoverySelector whole = KitRun.selectTest(kit, test);
        boolean firstOnly = mutant instanceof WrapperMutant
                && KitRun.method(kit, test).isAnnotationPresent(ParameterizedTest.class);
        return of(mutant, kit, firstOnly ? selectIteration(whole, 0) : whole, 1);
    }

    /** Runs the whole kit, many tests at once, on one backend with the defect after the other. */
    static MutantTestResult ofWholeKit(Mutant mutant) throws IOException {
        MutantTestResult all = new MutantTestResult(0, List.of(), 0, Duration.ZERO);
        for (Class<?> kit : mutant.conformance()) {
            all = all.and(of(mutant, kit, selectClass(kit), 16));
            if (all.isDetected()) {
                break;
            }
        }
        return all;
    }

    private MutantTestResult and(MutantTestResult other) {
        return new MutantTestResult(
                succeeded + other.succeeded,
                Stream.concat(failures.stream(), other.failures.stream()).toList(),
                aborted + other.aborted,
                took.plus(other.took));
    }

    private static MutantTestResult of(Mutant mutant, Class<?> kit, DiscoverySelector selector, int parallelism) {
        long start = System.nanoTime();
        Thread.currentThread().setContextClassLoader(kit.getClassLoader());
        EngineExecutionResults results = KitRun.request(parallelism, selector)
                .configurationParameter(MutantConformance.MUTANT, mutant.toString())
                .execute();
        return new MutantTestResult(
                results.testEvents().succeeded().count(),
                results.testEvents().failed().stream().map(Failure::of).toList(),
                results.testEvents().aborted().count(),
                Duration.ofNanos(System.nanoTime() - start));
    }

    /** Returns whether an assertion or the time limit of any test failed. */
    boolean isDetected() {
        return failures.stream().anyMatch(Failure::isDetection);
    }

    /** Returns whether an assertion or the time limit of a test failed for the rule. */
    boolean failedFor(String rule) {
        return failures.stream().anyMatch(failure -> failure.isDetection() && failure.names(rule));
    }
}
