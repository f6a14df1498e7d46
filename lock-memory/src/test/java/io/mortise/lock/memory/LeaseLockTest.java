// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests those details of {@link LeaseLock} that its contract in the kit leaves out: limits of waits, views, a closed client, the
 * maximum hold.
 *
 * <p>The tests that the JDK has for {@code ReentrantLock} served as a list of cases; {@code docs/using-java-lock.md} says which of
 * them apply, and which tests correspond to them.
 */
@SuppressWarnings("LockNotBeforeTry") // a failed test closes the client, which releases the lease
class LeaseLockTest {
    private final LockClient client = Locks.connect("memory:" + UUID.randomUUID());
    private final LeaseLock lock = client.named("x").asLock();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void S09_aLimitOfZeroOrLessMakesOneAttempt() throws Exception {
        try (Lease held = client.named("x").acquire()) {
            assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isFalse();
            assertThat(lock.tryLock(-1, TimeUnit.DAYS)).isFalse();
            assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS)).isFalse();
            assertThat(lock.tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(lock.tryLock(-1, TimeUnit.DAYS)).isTrue();
        lock.unlock();
    }

    @Test
    void S09_aHugeLimitIsAccepted() throws Exception {
        assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
        assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.NANOSECONDS)).isTrue();
        assertThat(lock.holdCount()).isEqualTo(2);
    }

    /** As {@code ReentrantLock} does, so that code which is nested at times does not miss an interrupt. */
    @Test
    void S10_anInterruptedHolderDoesNotLockAgain() {
        lock.lock();
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        assertThat(lock.holdCount()).isEqualTo(1);
    }

    @Test
    void S10_lockAndTryLockWorkInAnInterruptedThread() {
        Thread.currentThread().interrupt();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        lock.unlock();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(lock.tryLock()).isTrue();
        assertThat(client.named("x").asLock().tryLock()).isFalse();
    }

    @Test
    void S10_anInterruptEndsATimedWait() throws Exception {
        try (Lease held = client.named("x").acquire()) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread waiting = new Thread(() -> {
                try {
                    interrupted.complete(!lock.tryLock(1, TimeUnit.DAYS));
                } catch (InterruptedException e) {
                    interrupted.complete(!Thread.currentThread().isInterrupted());
                }
            });
            waiting.start();
            awaitWaiters(1);
            waiting.interrupt();
            assertThat(interrupted.get(30, TimeUnit.SECONDS))
                    .as("thrown, with the flag cleared")
                    .isTrue();
            awaitWaiters(0);
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void S09_aTimedWaitLastsAsLongAsItSays() throws Exception {
        try (Lease held = client.named("x").acquire()) {
            long start = System.nanoTime();
            assertThat(endsWithoutTheLock(20, TimeUnit.MILLISECONDS)).isTrue();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** Only a lease of its own would make the counter wrong; the holds of a thread also make its writes visible to the next. */
    @Test
    void S01_threadsThatShareOneViewExcludeEachOther() throws Exception {
        int[] unguarded = new int[1];
        inThreads(6, number -> {
            for (int round = 0; round < 60; round++) {
                enter(round + number);
                lock.lock();
                unguarded[0]++;
                lock.unlock();
                lock.unlock();
            }
        });
        assertThat(unguarded).containsExactly(6 * 60);
        assertThat(lock.tryLock()).as("free at the end").isTrue();
    }

    /** Locks by each of the four methods in turn. */
    private void enter(int how) throws InterruptedException {
        switch (how % 4) {
            case 0 -> lock.lock();
            case 1 -> lock.lockInterruptibly();
            case 2 -> assertThat(lock.tryLock(30, TimeUnit.SECONDS)).isTrue();
            default -> {
                while (!lock.tryLock()) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    @Test
    void S10_interruptsOfSomeWaitersLeaveTheOthersInTheQueue() throws Exception {
        AtomicInteger completed = new AtomicInteger();
        AtomicInteger interrupted = new AtomicInteger();
        List<Thread> waiting = new ArrayList<>();
        lock.lock();
        for (int i = 0; i < 8; i++) {
            Thread thread = new Thread(() -> {
                try {
                    lock.lockInterruptibly();
                    completed.incrementAndGet();
                    lock.unlock();
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                }
            });
            thread.start();
            waiting.add(thread);
        }
        awaitWaiters(8);
        for (int i = 0; i < 8; i += 2) {
            waiting.get(i).interrupt();
        }
        awaitWaiters(4);
        assertThat(completed).hasValue(0);
        lock.unlock();
        for (Thread thread : waiting) {
            thread.join();
        }
        assertThat(completed).hasValue(4);
        assertThat(interrupted).hasValue(4);
        assertThat(lock.tryLock()).as("free at the end").isTrue();
    }

    /** Somebody keeps the lock in the end, so that each thread ends by its time limit. */
    @Test
    void S09_threadsThatWaitWithALimitEndWhenTheLockStaysTaken() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        CompletableFuture<Void> loops = CompletableFuture.runAsync(() -> inThreads(4, number -> {
            while (!endsWithoutTheLock(10, TimeUnit.MILLISECONDS)) {
                rounds.incrementAndGet();
                lock.unlock();
            }
        }));
        while (rounds.get() < 20 && !loops.isDone()) { // on a machine that stands still, the limits may end them before
            Thread.onSpinWait();
        }
        lock.lock();
        loops.get(30, TimeUnit.SECONDS);
        awaitWaiters(0);
    }

    @Test
    void S17_waitsThatEndByTheirLimitLeaveNothing() throws Exception {
        try (Lease held = client.named("x").acquire()) {
            for (int i = 0; i < 200; i++) {
                assertThat(endsWithoutTheLock(100, TimeUnit.MICROSECONDS)).isTrue();
            }
            awaitWaiters(0);
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(lock.tryLock()).isTrue();
    }

    @Test
    @SuppressWarnings("NullAway") // that is the point
    void S14_aTimeWithoutAUnitIsRefused() {
        assertThatThrownBy(() -> lock.tryLock(1, null)).isInstanceOf(NullPointerException.class);
        assertThat(lock.tryLock()).isTrue();
    }

    @Test
    void holdsAreCountedOneByOne() {
        for (int count = 1; count <= 20; count++) {
            lock.lock();
            assertThat(lock.holdCount()).isEqualTo(count);
        }
        for (int count = 19; count >= 0; count--) {
            lock.unlock();
            assertThat(lock.holdCount()).isEqualTo(count);
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    private boolean endsWithoutTheLock(long time, TimeUnit unit) throws InterruptedException {
        try {
            return !lock.tryLock(time, unit);
        } catch (
                BackendUnavailableException
                        e) { // S15: the machine stood still, so there was no reply in so short a time
            return true;
        }
    }

    private interface Work {
        void run(int number) throws InterruptedException;
    }

    /** Runs the work in that many threads at a time, and waits for their ends. */
    private static void inThreads(int count, Work work) {
        CompletableFuture.allOf(IntStream.range(0, count)
                        .mapToObj(number -> CompletableFuture.runAsync(
                                () -> {
                                    try {
                                        work.run(number);
                                    } catch (InterruptedException e) {
                                        throw new AssertionError(e);
                                    }
                                },
                                task -> new Thread(task).start()))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }

    private void awaitWaiters(int count) {
        while (client.named("x").status().join().waiters().size() != count) {
            Thread.onSpinWait();
        }
    }

    /** The page lists tests of this class and of the contract in the kit. */
    @Test
    void thePageNamesTestsThatExist() throws Exception {
        String tests = Files.readString(Path.of("src/test/java/io/mortise/lock/memory/LeaseLockTest.java"))
                + Files.readString(
                        Path.of("../lock-testkit/src/main/java/io/mortise/lock/testkit/LeaseLockContract.java"));
        String page = Files.readString(Path.of("../docs/using-java-lock.md"));
        List<String> named = Pattern.compile("`((?:S\\d\\d_)?[a-z]\\w+)`(?=[^|]*\\|\\n)")
                .matcher(page.substring(page.indexOf("## Compared with the tests")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(named)
                .hasSizeGreaterThan(15)
                .allSatisfy(name -> assertThat(tests).contains("void " + name + "("));
    }

    @Test
    void S04_anotherViewCountsItsOwnHolds() {
        LeaseLock other = client.named("x").asLock();
        lock.lock();
        assertThat(other.tryLock()).isFalse();
        assertThat(other.holdCount()).isZero();
        assertThatThrownBy(other::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("\"x\"");
        lock.unlock();
        assertThat(other.tryLock()).isTrue();
    }

    /** The thread whose lease was lost keeps its hold until it unlocks, and disturbs the next holder in no way. */
    @Test
    void S07_afterALossAnotherThreadHoldsTheSameLock() throws Exception {
        LeaseLock limited = client.named("x", LockOptions.defaults().maxHold(Duration.ofMillis(50)))
                .asLock();
        limited.lock();
        assertThat(limited.lease().lost().get(30, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.MAX_HOLD);
        try (Lease next = client.named("x").acquire()) {
            assertThatThrownBy(limited::tryLock).isInstanceOf(LeaseLostException.class);
            assertThat(limited.holdCount()).isEqualTo(1);
            assertThatThrownBy(limited::unlock)
                    .isInstanceOfSatisfying(
                            LeaseLostException.class,
                            e -> assertThat(e.reason().kind()).isEqualTo(LossReason.Kind.MAX_HOLD));
            assertThat(limited.holdCount()).isZero();
            assertThat(limited.tryLock()).isFalse();
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void S16_aClosedClientFailsHoldersAndWaiters() {
        lock.lock();
        LeaseLock other = client.named("x").asLock();
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(other::lock);
        client.close();
        assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::lock).isInstanceOf(ClientClosedException.class);
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void conditionsAreNotSupported() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void toStringShowsTheNameAndTheHoldsOfTheThread() {
        assertThat(lock).hasToString("LeaseLock[x, held 0 times by this thread]");
        lock.lock();
        assertThat(lock).hasToString("LeaseLock[x, held 1 times by this thread]");
    }
}
