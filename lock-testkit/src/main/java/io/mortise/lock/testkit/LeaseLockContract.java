// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests the lock as a {@link java.util.concurrent.locks.Lock}: holds of a thread, interrupts, and the report of a loss. */
@SuppressWarnings("LockNotBeforeTry") // a failed test closes its client, which releases the lease
interface LeaseLockContract extends Contract {
    @Test
    default void S01_javaLocksExcludeEachOtherAndLeases() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LeaseLock lock = client.named("x").asLock();
        lock.lock();
        boolean lockedByAnotherThread = ApiStyle.result(fixture().start(() -> lock.tryLock()));
        assertThat(lockedByAnotherThread).isFalse();
        assertThat(other.named("x").asLock().tryLock()).as("another client").isFalse();
        assertThat(other.named("x").tryAcquire()).isEmpty();
        lock.unlock();
        try (Lease lease = other.named("x").tryAcquire().orElseThrow()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(lock.tryLock()).isFalse();
            assertThat(lock.holdCount()).isZero();
        }
        fixture().assertFree(other, "x");
    }

    @Test
    default void S04_aThreadHoldsAJavaLockUntilItsLastUnlock() throws Exception {
        LockClient other = fixture().client();
        LeaseLock lock = fixture().client().named("x").asLock();
        lock.lock();
        Lease lease = lock.lease();
        assertThat(lock.tryLock()).isTrue();
        lock.lockInterruptibly();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        for (int count = 4; count > 0; count--) {
            assertThat(lock.holdCount()).isEqualTo(count);
            assertThat(lock.lease()).isSameAs(lease);
            assertThat(other.named("x").tryAcquire()).as("%s holds", count).isEmpty();
            lock.unlock();
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        fixture().assertFree(other, "x");
    }

    @Test
    default void S05_onlyTheThreadOfAJavaLockUnlocksIt() throws Exception {
        LockClient other = fixture().client();
        LeaseLock lock = fixture().client().named("x").asLock();
        lock.lock();
        Future<?> unlocked = fixture().start(() -> {
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            assertThatThrownBy(lock::lease).isInstanceOf(IllegalMonitorStateException.class);
            return null;
        });
        ApiStyle.result(unlocked);
        assertThat(other.named("x").tryAcquire()).isEmpty();
        lock.unlock();
        fixture().assertFree(other, "x");
    }

    @Test
    default void S07_aJavaLockReportsALossToEveryLaterCall() throws Exception {
        LockClient client = fixture().client();
        LockClient operator = fixture().client();
        LeaseLock lock = client.named("x", fixture().shortLease(client)).asLock();
        lock.lock();
        lock.lock();
        Lease lease = lock.lease();
        fixture().forceRelease("x", operator, "S07 of a java.util.concurrent Lock");
        Duration bound = fixture().backend().removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        ContractTestFixture.eventually("the holder detects its loss", bound, () -> !lease.isHeld());
        assertThatThrownBy(lock::lock).as("S07: lock again").isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::tryLock).as("S07: tryLock again").isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).as("S07: inner unlock").isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).as("S07: last unlock").isInstanceOf(LeaseLostException.class);
        assertThat(lock.holdCount()).isZero();
        assertThat(lock.tryLock(ContractTestFixture.LONG.toSeconds(), TimeUnit.SECONDS))
                .as("locked anew")
                .isTrue();
        assertThat(lock.lease().ownerId()).isNotEqualTo(lease.ownerId());
        lock.unlock();
        fixture().assertFree(operator, "x");
    }

    /** The store has removed the grant, and the holder cannot have noticed yet when it unlocks. */
    @Test
    default void S05_unlockReportsALossThatTheStoreKnows() throws Exception {
        LockClient operator = fixture().client();
        LeaseLock lock = fixture().client().named("x").asLock();
        lock.lock();
        fixture().forceRelease("x", operator, "S05 of a java.util.concurrent Lock");
        Thread.currentThread().interrupt(); // it must not hide the loss
        try {
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        } finally {
            assertThat(Thread.interrupted()).as("interrupt flag").isTrue();
        }
        fixture().assertFree(operator, "x");
    }

    /** A pooled thread has the next task after a loss, which must not meet the lease of the last one. */
    @Test
    default void S04_aThreadLocksAnewAfterAnUnlockThatReportedALoss() throws Exception {
        LockClient client = fixture().client();
        LockClient operator = fixture().client();
        LeaseLock lock = client.named("x").asLock();
        Map<String, ThrowingCallable> ways = new LinkedHashMap<>();
        ways.put("lock()", lock::lock);
        ways.put("lockInterruptibly()", lock::lockInterruptibly);
        ways.put("tryLock()", () -> assertThat(lock.tryLock()).isTrue());
        ways.put(
                "tryLock(time)",
                () -> assertThat(lock.tryLock(30, TimeUnit.SECONDS)).isTrue());
        for (Map.Entry<String, ThrowingCallable> way : ways.entrySet()) {
            lock.lock();
            Lease lease = lock.lease();
            fixture().forceRelease("x", operator, "S04 of a java.util.concurrent Lock");
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
            assertThat(lock.holdCount()).as("S04: holds after the loss").isZero();
            assertThatThrownBy(lock::unlock)
                    .as("S04: unlock without a hold")
                    .isInstanceOf(IllegalMonitorStateException.class);
            assertThatCode(way.getValue())
                    .as("S04: %s after the loss", way.getKey())
                    .doesNotThrowAnyException();
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThat(lock.lease().ownerId()).as("S04: owner").isNotEqualTo(lease.ownerId());
            lock.unlock();
        }
        fixture().assertFree(operator, "x");
    }

    @Test
    default void S10_lockOutlastsAnInterruptAndLockInterruptiblyEnds() throws Exception {
        LockClient client = fixture().client();
        Lease held = fixture().client().named("x").acquire();
        LeaseLock lock = client.named("x").asLock();
        CompletableFuture<Thread> started = new CompletableFuture<>();
        Future<Boolean> locking = fixture().start(() -> {
            started.complete(Thread.currentThread());
            lock.lock();
            boolean kept = Thread.interrupted();
            lock.unlock();
            return kept;
        });
        Thread waiter = ApiStyle.result(started);
        ContractTestFixture.awaitWaiters(client, "x", 1);
        waiter.interrupt();
        ContractTestFixture.throughout(
                "S10: lock() waits on",
                Duration.ofMillis(200),
                () -> assertThat(locking).isNotDone());

        CompletableFuture<Thread> interruptible = new CompletableFuture<>();
        Future<Boolean> interrupted = fixture().start(() -> {
            interruptible.complete(Thread.currentThread());
            try {
                lock.lockInterruptibly();
                return false;
            } catch (InterruptedException e) {
                return true;
            }
        });
        Thread second = ApiStyle.result(interruptible);
        ContractTestFixture.awaitWaiters(client, "x", 2);
        second.interrupt();
        assertThat(ApiStyle.result(interrupted))
                .as("S10: the wait of lockInterruptibly() ended")
                .isTrue();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.DAYS)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();

        held.close();
        assertThat(ApiStyle.result(locking)).as("S10: interrupt flag").isTrue();
        fixture().assertFree(client, "x");
    }

    /** False would mean that another owner holds the lock. */
    @Test
    default void S15_aJavaLockReportsAnOutageAsAnException() throws Exception {
        LockClient silent = fixture().client(ElectionFaultContract.SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        LeaseLock lock = silent.named("x").asLock();
        fixture().faultInjector().silence(silent, "S15 of a java.util.concurrent Lock");
        assertThatThrownBy(() -> lock.tryLock()).as("S15: one attempt").isInstanceOf(BackendUnavailableException.class);
        assertThatThrownBy(() -> lock.tryLock(100, TimeUnit.MILLISECONDS))
                .as("S15: with a limit")
                .isInstanceOf(BackendUnavailableException.class);
        assertThatThrownBy(lock::lock).as("S15: without a limit").isInstanceOf(BackendUnavailableException.class);
        assertThatThrownBy(lock::lockInterruptibly)
                .as("S15: interruptibly")
                .isInstanceOf(BackendUnavailableException.class);
        assertThat(lock.holdCount()).isZero();
        fixture().faultInjector().heal(silent);
        assertThat(lock.tryLock(ContractTestFixture.LONG.toSeconds(), TimeUnit.SECONDS))
                .as("after the outage")
                .isTrue();
        lock.unlock();
        fixture().assertFree(other, "x");
    }
}
