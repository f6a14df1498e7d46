// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
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
        BlockingQueue<String> ran;
        long start;
        do {
            ran = new LinkedBlockingQueue<>();
            start = System.nanoTime();
            scheduleThree(ran);
        } while (System.nanoTime() - start > 200_000_000); // after a pause the order of the due times may be another
        for (String expected : List.of("first", "second", "third")) {
            assertThat(ran.poll(20, TimeUnit.SECONDS)).isEqualTo(expected);
        }
    }

    private void scheduleThree(Queue<String> ran) {
        clock.schedule(Duration.ofMillis(600), () -> ran.add("third"));
        clock.schedule(Duration.ofMillis(300), () -> ran.add("second"));
        clock.schedule(Duration.ZERO, () -> ran.add("first"));
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
        CountDownLatch cancelled = new CountDownLatch(1);
        clock.schedule(Duration.ZERO, () -> await(cancelled));
        LockClock.Timer early = clock.schedule(Duration.ZERO, () -> ran.set(true));
        early.cancel();
        early.cancel();
        cancelled.countDown();
        for (int i = 0; i < 100_000; i++) {
            clock.schedule(Duration.ofHours(1), () -> {}).cancel();
        }
        for (int i = 0; i < 2; i++) { // the thread still counts what it has just removed when the first one runs
            CountDownLatch last = new CountDownLatch(1);
            clock.schedule(Duration.ZERO, last::countDown);
            assertThat(last.await(20, TimeUnit.SECONDS)).isTrue();
        }
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

    /** As with a log that has no memory or no disk space left. */
    @Test
    void S07_aFailureThatCannotBeLoggedDoesNotEndTheOtherTimers() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        clock.schedule(Duration.ZERO, () -> {
            throw new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new OutOfMemoryError("for the test");
                }
            };
        });
        clock.schedule(Duration.ofMillis(100), ran::countDown);
        assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void S07_aThreadThatCouldNotBeStartedIsReplacedWithTheNextTimer() throws Exception {
        AtomicBoolean full = new AtomicBoolean(true);
        SystemClock late = new SystemClock(task -> new Thread(task) {
            @Override
            public synchronized void start() {
                if (full.getAndSet(false)) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                super.start();
            }
        });
        assertThatThrownBy(() -> late.schedule(Duration.ZERO, () -> {})).isInstanceOf(OutOfMemoryError.class);
        CountDownLatch ran = new CountDownLatch(1);
        late.schedule(Duration.ZERO, ran::countDown);
        assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
        late.stop();
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

    @Test
    void theTimerThreadIsADaemonSleepsBetweenTimersAndEndsWithTheClock() throws Exception {
        CompletableFuture<Thread> timerThread = new CompletableFuture<>();
        clock.schedule(Duration.ofHours(1), () -> {});
        clock.schedule(Duration.ZERO, () -> timerThread.complete(Thread.currentThread()));
        Thread thread = timerThread.get(20, TimeUnit.SECONDS);
        assertThat(thread.isDaemon()).isTrue();
        eventually(() -> thread.getState() == Thread.State.TIMED_WAITING);
        clock.stop();
        thread.join(20_000);
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void theThreadAlsoSleepsWithoutTimers() throws Exception {
        CompletableFuture<Thread> timerThread = new CompletableFuture<>();
        clock.schedule(Duration.ZERO, () -> timerThread.complete(Thread.currentThread()));
        Thread thread = timerThread.get(20, TimeUnit.SECONDS);
        eventually(() -> thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void timersThatAreCancelledWhileTheThreadSleepsAreRemoved() throws Exception {
        List<LockClock.Timer> timers = new ArrayList<>();
        for (int i = 0; i < 4_000; i++) {
            timers.add(clock.schedule(Duration.ofHours(1), () -> {}));
        }
        CountDownLatch sorted = new CountDownLatch(1);
        clock.schedule(Duration.ZERO, sorted::countDown);
        assertThat(sorted.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(clock.size()).isGreaterThanOrEqualTo(4_000);
        timers.forEach(LockClock.Timer::cancel);
        eventually(() -> clock.size() < 2_000); // up to 999 wait to be sorted, and their timers remain
    }

    @Test
    void timersThatWaitToBeSortedAreCounted() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        clock.schedule(Duration.ZERO, () -> {
            running.countDown();
            await(end);
        });
        assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < 10; i++) {
            clock.schedule(Duration.ofHours(1), () -> {});
        }
        assertThat(clock.size()).isGreaterThanOrEqualTo(10);
        end.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
