// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.PauseMonitor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** Tests that a test that failed while the machine stood still is repeated, and no other. */
class PausedTestExtensionTest {
    private final List<Integer> runs = new ArrayList<>();

    @Test
    void aFailureDuringAPauseIsRepeated() throws Throwable {
        PausedTestExtension.repeatIfPaused(failing(1, new AssertionError()), begun -> Duration.ofSeconds(2));
        assertThat(runs).containsExactly(1, 2);
    }

    @Test
    void aFailureWithoutAPauseIsFinal() {
        AssertionError failure = new AssertionError();
        assertThatThrownBy(() -> PausedTestExtension.repeatIfPaused(failing(1, failure), begun -> Duration.ZERO))
                .isSameAs(failure);
        assertThat(runs).containsExactly(1);
    }

    @Test
    void aTestThatKeepsFailingFails() {
        AssertionError failure = new AssertionError();
        assertThatThrownBy(() -> PausedTestExtension.repeatIfPaused(
                        failing(Integer.MAX_VALUE, failure), begun -> Duration.ofSeconds(2)))
                .isSameAs(failure);
        assertThat(runs).hasSize(PausedTestExtension.MOST_RUNS);
    }

    @Test
    void anAbortedTestIsNotRepeated() {
        TestAbortedException aborted = new TestAbortedException();
        assertThatThrownBy(
                        () -> PausedTestExtension.repeatIfPaused(failing(1, aborted), begun -> Duration.ofSeconds(2)))
                .isSameAs(aborted);
        assertThat(runs).containsExactly(1);
    }

    /** Stops this very JVM. */
    @Test
    void aPauseIsNoticed() throws Exception {
        PauseMonitor.start();
        long begun = System.nanoTime();
        String stop = "kill -STOP %1$d; sleep 0.8; kill -CONT %1$d"
                .formatted(ProcessHandle.current().pid());
        assertThat(new ProcessBuilder("sh", "-c", stop).start().waitFor()).isZero();
        assertThat(PauseMonitor.since(begun)).isPositive();
    }

    private PausedTestExtension.Run failing(int times, Throwable failure) {
        return number -> {
            runs.add(number);
            if (number <= times) {
                throw failure;
            }
        };
    }
}
