// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.testkit.process.PauseMonitor;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * JUnit extension that refuses to run a test again in the same JVM, as Surefire does with {@code rerunFailingTestsCount}, if it failed
 * without a pause of that JVM. So only a pause excuses a failure. It also refuses conformance tests and classes with dynamic tests, which
 * repeat themselves what failed.
 *
 * <p>Has no effect unless the configuration parameter {@value #PARAMETER} is {@code true}.
 */
public final class RerunAfterPauseExtension implements ExecutionCondition, AfterAllCallback, TestWatcher {
    static final String PARAMETER = "mortise.test.rerun-after-pause";

    // By unique id, for all runs: each of them has an extension of its own.
    private static final Map<String, Long> BEGUN = new ConcurrentHashMap<>(); // the last run of each class
    private static final Set<String> RUN = ConcurrentHashMap.newKeySet(); // all classes and methods so far
    private static final Set<String> EXCUSED = ConcurrentHashMap.newKeySet(); // those that failed during a pause

    /** Starts to watch for pauses. */
    public RerunAfterPauseExtension() {
        PauseMonitor.start();
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (context.getConfigurationParameter(PARAMETER, Boolean::valueOf).orElse(false)) {
            if (!RUN.add(context.getUniqueId()) && !isExcused(context)) {
                throw new NotRunAgainException(); // Surefire reports a skip as a pass
            }
            if (context.getTestMethod().isEmpty()) {
                BEGUN.put(context.getUniqueId(), System.nanoTime());
            }
        }
        return ConditionEvaluationResult.enabled("first run, or rerun after a pause");
    }

    /** Returns whether this runs again: a test that is excused, what contains it, or any test of a class that failed itself. */
    private static boolean isExcused(ExtensionContext context) {
        String id = context.getUniqueId();
        return EXCUSED.contains(classOf(context).getUniqueId())
                || EXCUSED.stream().anyMatch(excused -> excused.equals(id) || excused.startsWith(id + "/"));
    }

    private static boolean repeatsItself(ExtensionContext test) {
        return ConformanceTestBase.class.isAssignableFrom(test.getRequiredTestClass())
                || test.getRequiredTestMethod().isAnnotationPresent(TestFactory.class);
    }

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
        if (!(cause instanceof NotRunAgainException) && !repeatsItself(context)) {
            judge(context);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        context.getExecutionException().ifPresent(failure -> judge(context));
    }

    private static void judge(ExtensionContext failed) {
        Long begun = BEGUN.get(classOf(failed).getUniqueId());
        if (begun != null && !PauseMonitor.since(begun).isZero()) {
            EXCUSED.add(failed.getUniqueId());
        } else {
            EXCUSED.remove(failed.getUniqueId()); // an earlier failure was excused, this one is not
        }
    }

    private static ExtensionContext classOf(ExtensionContext context) {
        return context.getTestMethod().isEmpty()
                ? context
                : classOf(context.getParent().orElseThrow());
    }

    private static final class NotRunAgainException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        NotRunAgainException() {
            super("not run again, since this JVM did not stand still");
        }
    }
}
