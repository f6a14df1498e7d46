// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.testkit.process.PauseMonitor;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.LongFunction;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.ReflectionSupport;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * JUnit extension that repeats a conformance test that failed while its JVM stood still for half a second or longer: then its timeouts and
 * limits say nothing about the backend. Each repetition has a fixture of its own.
 */
final class PausedTestExtension implements InvocationInterceptor {
    static final int MOST_RUNS = 3;

    private static final Logger log = LoggerFactory.getLogger(PausedTestExtension.class);

    PausedTestExtension() {
        PauseMonitor.start();
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> call, ExtensionContext context)
            throws Throwable {
        run(invocation, call);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> call, ExtensionContext context)
            throws Throwable {
        run(invocation, call);
    }

    private static void run(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call) throws Throwable {
        ConformanceTestBase test = (ConformanceTestBase) call.getTarget().orElseThrow();
        repeatIfPaused(
                run -> {
                    if (run == 1) {
                        invocation.proceed();
                    } else {
                        test.replaceFixture();
                        ReflectionSupport.invokeMethod(
                                call.getExecutable(), test, call.getArguments().toArray());
                    }
                },
                PauseMonitor::since);
    }

    /** A run of a test; the first one has number 1. */
    interface Run {
        void run(int number) throws Throwable;
    }

    /** @param pauseSince returns the pause since an instant of {@link System#nanoTime()}; zero if there was none */
    static void repeatIfPaused(Run test, LongFunction<Duration> pauseSince) throws Throwable {
        for (int run = 1; ; run++) {
            long begun = System.nanoTime();
            try {
                test.run(run);
                return;
            } catch (TestAbortedException e) {
                throw e;
            } catch (Throwable e) {
                Duration pause = pauseSince.apply(begun);
                if (run == MOST_RUNS || pause.isZero()) {
                    throw e;
                }
                log.warn("event=test-repeated pause={}", pause, e);
            }
        }
    }
}
