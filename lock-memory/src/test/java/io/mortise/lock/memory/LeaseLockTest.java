// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests those details of {@link LeaseLock} that its contract in the kit leaves out: limits of waits, views, a closed client, the
 * maximum hold.
 *
 * <p>The public tests of {@code ReentrantLock} (JSR 166) served as a list of cases. Those on fairness, on queue inspection ({@code
 * hasQueuedThreads} and others), on {@code isLocked}, on conditions and on serialization do not apply: a distributed lock has no
 * such methods.
 */
@Timeout(60)
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
