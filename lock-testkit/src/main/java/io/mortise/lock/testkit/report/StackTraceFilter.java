// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Removes the frames of the kit, of JUnit and of AssertJ from the stack traces of a failure.
 *
 * <p>One frame of the kit remains: the line of the test. What is left are the frames of the backend and of its store's client.
 */
final class StackTraceFilter {
    private static final String KIT = "io.mortise.lock.testkit.";
    private static final String[] HIDDEN = {
        KIT,
        "org.junit.",
        "org.assertj.",
        "org.opentest4j.",
        "org.apache.maven.surefire.",
        "java.lang.reflect.",
        "jdk.internal.reflect.",
        "java.util.concurrent.",
        "java.util.stream.",
        "java.util.ArrayList",
        "java.lang.Thread",
        "java.util.Optional"
    };

    private StackTraceFilter() {}

    /** Filters the stack traces of the failure, of its causes and of what it suppressed. */
    static void filter(Throwable failure, String testMethod) {
        filter(failure, testMethod, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static void filter(Throwable failure, String testMethod, Set<Throwable> seen) {
        if (!seen.add(failure)) {
            return;
        }
        StackTraceElement[] frames = Arrays.stream(failure.getStackTrace())
                .filter(frame -> isTest(frame, testMethod) || !isHidden(frame))
                .toArray(StackTraceElement[]::new);
        if (frames.length > 0) {
            failure.setStackTrace(frames);
        }
        if (failure.getCause() != null) {
            filter(failure.getCause(), testMethod, seen);
        }
        for (Throwable suppressed : failure.getSuppressed()) {
            filter(suppressed, testMethod, seen);
        }
    }

    private static boolean isTest(StackTraceElement frame, String testMethod) {
        return frame.getClassName().startsWith(KIT)
                && (frame.getMethodName().equals(testMethod)
                        || frame.getMethodName().startsWith("lambda$" + testMethod + "$"));
    }

    private static boolean isHidden(StackTraceElement frame) {
        return Arrays.stream(HIDDEN).anyMatch(frame.getClassName()::startsWith);
    }
}
