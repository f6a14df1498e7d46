// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkerThreadsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @Test
    void tasksRunInParallel() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        try (WorkerThreads workers = new WorkerThreads("round", 2)) {
            List<Boolean> met = workers.together(List.of(() -> meet(both), () -> meet(both)), SOON);
            assertThat(met).containsExactly(true, true);
        }
    }

    private static boolean meet(CountDownLatch all) throws InterruptedException {
        all.countDown();
        return all.await(10, TimeUnit.SECONDS);
    }

    @Test
    void taskThatNeverEndsFailsTheRoundAndIsInterrupted() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        try (WorkerThreads workers = new WorkerThreads("round", 1)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> workers.together(
                            List.of(() -> {
                                try {
                                    return never.await(1, TimeUnit.MINUTES);
                                } finally {
                                    interrupted.countDown();
                                }
                            }),
                            Duration.ofMillis(50)))
                    .withMessageStartingWith("round: a worker thread is still waiting for a lock");
        }
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void failureOfATaskIsTheFailureOfTheRound() {
        try (WorkerThreads workers = new WorkerThreads("round", 1)) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> workers.together(
                            List.of(() -> {
                                throw new IOException("broken");
                            }),
                            SOON))
                    .withMessage("broken");
        }
    }
}
