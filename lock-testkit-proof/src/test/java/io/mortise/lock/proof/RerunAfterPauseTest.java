// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Tests that a failed test is run again only if this JVM stood still. */
@Isolated // or tests of other classes would stand still with it
class RerunAfterPauseTest {
    static class Failing {
        @Test
        void fails() {
            fail("always");
        }
    }

    /** JUnit calls no extension for that. */
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class FailingConstructor {
        FailingConstructor() {
            fail("always");
        }

        @Test
        void passes() {}
    }

    static class FailingBeforeAll {
        @BeforeAll
        static void start() {
            fail("always");
        }

        @Test
        void passes() {}
    }

    /** Stops this very JVM in the first run. */
    static class FailingInAPause {
        private static int runs;
        private static boolean passes;

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void theSecondFails(int number) throws Exception {
            if (number == 1) {
                return;
            }
            if (runs++ == 0) {
                String stop = "kill -STOP %1$d; sleep 0.8; kill -CONT %1$d"
                        .formatted(ProcessHandle.current().pid());
                new ProcessBuilder("sh", "-c", stop).start().waitFor();
                fail("the first time");
            }
            assertThat(passes).isTrue();
        }
    }

    static class FailingAfterAPause extends FailingInAPause {}

    private static EngineExecutionResults run(Class<?> tests) {
        return run(selectClass(tests));
    }

    private static EngineExecutionResults run(DiscoverySelector what) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(what)
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("mortise.test.rerun-after-pause", "true")
                .execute();
    }

    private static Throwable failure(Class<?> tests) {
        return run(tests).allEvents().failed().stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .map(result -> result.getThrowable().orElseThrow())
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(classes = {Failing.class, FailingBeforeAll.class, FailingConstructor.class})
    void aFailureWithoutAPauseIsFinal(Class<?> tests) {
        // The third run is for a pause of this machine.
        assertThat(IntStream.rangeClosed(1, 3).mapToObj(run -> failure(tests)))
                .last()
                .asString()
                .contains("not run again");
    }

    @Test
    void aFailureDuringAPauseIsNot() {
        UniqueId failed = failedInAPause(FailingInAPause.class);
        FailingInAPause.passes = true;
        assertThat(run(selectUniqueId(failed)).testEvents().succeeded().count()).isOne();
    }

    @Test
    void aFailureAfterThePauseIsFinal() {
        UniqueId failed = failedInAPause(FailingAfterAPause.class);
        assertThat(run(selectUniqueId(failed)).testEvents().failed().count())
                .as("failed again")
                .isOne();
        FailingInAPause.passes = true;
        assertThat(run(selectUniqueId(failed)).allEvents().failed().count())
                .as("refused")
                .isOne();
    }

    /** Runs a class of which a test fails while this JVM stands still, and returns that test, as Surefire names it. */
    private static UniqueId failedInAPause(Class<?> tests) {
        FailingInAPause.runs = 0;
        FailingInAPause.passes = false;
        return run(tests).testEvents().failed().stream()
                .map(event -> event.getTestDescriptor().getUniqueId())
                .findFirst()
                .orElseThrow();
    }
}
