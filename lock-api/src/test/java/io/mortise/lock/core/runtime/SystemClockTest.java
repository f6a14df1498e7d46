// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the timers of the clock with real time and concurrent threads. */
class SystemClockTest {
    private final SystemClock clock = new SystemClock();

    @AfterEach
    void stop() {
        clock.stop();
    }

    @Test
    void timersRunInTheOrderOfTheirDueTimes() throws Exception {
        BlockingQueue<String> ran = new LinkedBlockingQueue<>();
        clock.schedule(Duration.ofMillis(1_500), () -> ran.add("third"));
        clock.schedule(Duration.ofMillis(750), () -> ran.add("second"));
        clock.schedule(Duration.ZERO, () -> ran.add("first"));
        for (String expected : List.of("first", "second", "third")) {
            assertThat(ran.poll(20, TimeUnit.SECONDS)).isEqualTo(expected);
        }
    }

    @Test
    void aTimerThatIsDueBeforeAllOthersWakesTheThread() throws Exception {
        CountDownLatch ran = new CountDownLatch(1_000);
        clock.schedule(Duration.ofHours(2), () -> {});
        for (int i = 0; i < 1_000; i++) {
            clock.schedule(Duration.ofNanos(i % 7 * 100_000L), ran::countDown);
        }
        assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aCancelledTimerDoesNotRunAndIsRemoved() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        LockClock.Timer early = clock.schedule(Duration.ofMillis(300), () -> ran.set(true));
        early.cancel();
        early.cancel();
        for (int i = 0; i < 100_000; i++) {
            clock.schedule(Duration.ofHours(1), () -> {}).cancel();
        }
        CountDownLatch last = new CountDownLatch(1);
        clock.schedule(Duration.ofMillis(600), last::countDown);
        assertThat(last.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).isFalse();
        assertThat(clock.size()).isLessThan(5_000);
    }

    @Test
    void aTimerThatFailsOrIsInterruptedDoesNotEndTheOthers() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        clock.schedule(Duration.ZERO, () -> {
            Thread.currentThread().interrupt();
            throw new AssertionError("expected in the log");
        });
        clock.schedule(Duration.ofMillis(100), ran::countDown);
        assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void manyThreadsScheduleAndCancelConcurrently() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(4);
        for (int t = 0; t < 4; t++) {
            new Thread(() -> {
                        for (int i = 0; i < 5_000; i++) {
                            clock.schedule(Duration.ofNanos(1), ran::incrementAndGet);
                            clock.schedule(Duration.ofHours(1), ran::incrementAndGet)
                                    .cancel();
                        }
                        done.countDown();
                    })
                    .start();
        }
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        CountDownLatch last = new CountDownLatch(1);
        clock.schedule(Duration.ofMillis(50), last::countDown);
        assertThat(last.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).hasValue(20_000);
    }
}
