// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.testkit.report.ClassRecorder;
import io.mortise.lock.testkit.report.ConformanceReportSettings;
import io.mortise.lock.testkit.report.TestRecorder;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestWatcher;
import org.junit.jupiter.params.ParameterizedTest;

/** JUnit extension that records the conformance tests of a class, and writes their report. */
final class ConformanceReportExtension
        implements BeforeAllCallback, AfterAllCallback, ParameterResolver, TestExecutionExceptionHandler, TestWatcher {
    private static final Namespace NAMESPACE = Namespace.create(ConformanceReportExtension.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        recorder(context);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestRecorder.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return recorder(context).test(context.getUniqueId());
    }

    /** Adds to a failure what was recorded, while the clients of the test are still open. */
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        ClassRecorder recorder = recorder(context);
        if (failure instanceof NoOutcomeError noOutcome) {
            noOutcome.pending(recorder.test(context.getUniqueId()).pending());
        }
        recorder.failing(context.getUniqueId(), context.getRequiredTestMethod().getName(), failure);
        throw failure;
    }

    @Override
    public void testSuccessful(ExtensionContext context) {
        ended(context, null);
    }

    @Override
    public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
        ended(context, cause);
    }

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
        ended(context, cause);
    }

    private static void ended(ExtensionContext context, @Nullable Throwable cause) {
        String method = context.getRequiredTestMethod().getName();
        String display = context.getDisplayName();
        recorder(context)
                .ended(context.getUniqueId(), method, display.startsWith("[") ? method + " " + display : method, cause);
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        Optional<String> strictFailure = recorder(context)
                .ended(
                        tests(LockConformance.class),
                        tests(context.getRequiredTestClass()),
                        context.getExecutionException().orElse(null));
        if (strictFailure.isPresent()) {
            throw new AssertionError(strictFailure.get());
        }
    }

    private static Set<String> tests(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> Contract.class.isAssignableFrom(method.getDeclaringClass()))
                .filter(method ->
                        method.isAnnotationPresent(Test.class) || method.isAnnotationPresent(ParameterizedTest.class))
                .map(Method::getName)
                .collect(Collectors.toUnmodifiableSet());
    }

    private static ConformanceReportSettings settings(ExtensionContext context) {
        return ConformanceReportSettings.read(context::getConfigurationParameter);
    }

    private static ClassRecorder recorder(ExtensionContext context) {
        Class<?> testClass = context.getRequiredTestClass();
        return context.getRoot()
                .getStore(NAMESPACE)
                .computeIfAbsent(
                        testClass,
                        type -> new ClassRecorder(testClass.getName(), settings(context)),
                        ClassRecorder.class);
    }
}
