// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a waiter that gives up returns at once and leaves no grant or queue entry. Rules S08, S10. */
interface WithdrawalContract extends Contract {
    int RACES = 120;

    @ParameterizedTest
    @EnumSource
    default void S08_aWaiterThatTimedOutLeavesNoOrphan(ApiStyle style) throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named("x").acquire();
        for (int i = 0; i < 10; i++) {
            ContractTestFixture.assertWaitFails(style, waiter.named("x"), Duration.ofMillis(100));
        }
        fixture().assertNoWaiters(holder, "x");
        held.close();
        fixture().assertFree(holder, "x");
    }

    @Test
    default void S08_aWaiterThatEndedItsFutureLeavesNoOrphan() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> cancelled = waiter.named("x").acquireAsync();
        CompletableFuture<Optional<Lease>> completed = waiter.named("x").tryAcquireAsync(ContractTestFixture.LONG);
        CompletableFuture<Lease> timedOut = waiter.named("x").acquireAsync().orTimeout(20, TimeUnit.MILLISECONDS);
        cancelled.cancel(true);
        completed.complete(Optional.empty());
        CompletableFuture<Lease> failed = waiter.named("x").acquireAsync();
        failed.completeExceptionally(new IllegalStateException("failed by its caller"));
        assertThatThrownBy(timedOut::join).hasRootCauseInstanceOf(TimeoutException.class);
        fixture().assertNoWaiters(holder, "x");
        assertThat(held.isHeld()).isTrue();
        held.close();
        fixture().assertFree(holder, "x");
    }

    /** Cancellation and grant race: afterwards the lock is either free or held by the caller. */
    @Test
    default void S08_aCancelThatRacesWithTheGrantLeavesNoOrphan() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Duration spread = fixture().releaseTime(holder);
        for (int i = 0; i < RACES; i++) {
            Lease held = acquireAfterPreviousRound(holder.named("x"));
            CompletableFuture<Lease> future = waiter.named("x").acquireAsync();
            Future<?> release = fixture().releaseConcurrently(held, i, spread);
            if (!future.cancel(true)) {
                future.join().close();
            }
            ApiStyle.result(release);
            if (i % 10 == 0) {
                fixture().assertFree(holder, "x");
            }
        }
        fixture().assertFree(holder, "x");
    }

    /** Interrupt and grant race: the caller gets either an InterruptedException and no lease, or a lease. */
    @Test
    default void S08_anInterruptThatRacesWithTheGrantLeavesNoOrphan() throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Duration spread = fixture().releaseTime(holder);
        for (int i = 0; i < RACES; i++) {
            Lease held = acquireAfterPreviousRound(holder.named("x"));
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Future<Boolean> waiting = fixture().start(() -> {
                thread.complete(Thread.currentThread());
                try (Lease lease = lock.acquire()) {
                    return lease.isHeld() || Thread.interrupted();
                } catch (InterruptedException e) {
                    return true;
                } finally {
                    Thread.interrupted(); // the thread returns to its pool
                }
            });
            Thread waiter = ApiStyle.result(thread);
            ContractTestFixture.eventually(
                    "the waiter waits", ContractTestFixture.LONG, () -> ContractTestFixture.isWaiting(waiter));
            Future<?> release = fixture().releaseConcurrently(held, i, spread);
            waiter.interrupt();
            assertThat(ApiStyle.result(waiting)).isTrue();
            ApiStyle.result(release);
        }
        fixture().assertFree(holder, "x");
    }

    /** Acquires the lock; a possible orphan of the previous round must have been removed by then. */
    private static Lease acquireAfterPreviousRound(DistributedLock lock) throws InterruptedException {
        Optional<Lease> held = lock.tryAcquire(ContractTestFixture.PROMPT);
        assertThat(held)
                .as("the lock within %s of a withdrawal", ContractTestFixture.PROMPT)
                .isPresent();
        return held.orElseThrow();
    }

    @Test
    default void S10_anInterruptReturnsAtOnce() throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Lease held = holder.named("x").acquire();
        fixture().assertInterruptReturnsAtOnce(lock);
        fixture().assertNoWaiters(holder, "x");
        held.close();
        fixture().assertFree(holder, "x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"acquire", "tryAcquire", "tryAcquire with a limit", "run", "tryRun", "call", "tryCall"})
    default void S10_eachCallByAnInterruptedThreadThrows(String form) throws Exception {
        DistributedLock lock = fixture().client().named("x");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> {
                    switch (form) {
                        case "acquire" -> lock.acquire();
                        case "tryAcquire" -> lock.tryAcquire();
                        case "tryAcquire with a limit" -> lock.tryAcquire(ContractTestFixture.PROMPT);
                        case "run" -> lock.run(lease -> {});
                        case "tryRun" -> lock.tryRun(ContractTestFixture.PROMPT, lease -> {});
                        case "call" -> lock.call(lease -> 1);
                        default -> lock.tryCall(ContractTestFixture.PROMPT, lease -> 1);
                    }
                })
                .isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted())
                .as("the interrupt flag after the exception")
                .isFalse();
        fixture().assertFree(fixture().client(), "x");
    }

    @Test
    default void S10_aCancelReturnsAtOnce() throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Lease held = holder.named("x").acquire();
        DurationAssertions.overshoot("cancel", ContractTestFixture.PROMPT, Duration.ofMillis(50), () -> {
            CompletableFuture<Lease> waiting = lock.acquireAsync();
            long start = System.nanoTime();
            assertThat(waiting.cancel(true)).isTrue();
            return DurationAssertions.since(start);
        });
        fixture().assertNoWaiters(holder, "x");
        held.close();
        fixture().assertFree(holder, "x");
    }
}
