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

/** Contract of withdrawal: a waiter that gives up returns at once and leaves nothing (S08, S10). */
interface WithdrawalContract extends Contract {
    int RACES = 200;

    @ParameterizedTest
    @EnumSource
    default void S08_aWaiterThatTimedOutLeavesNothing(ApiStyle style) throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named("x").acquire();
        for (int i = 0; i < 10; i++) {
            ContractFixture.waitInVain(style, waiter.named("x"), Duration.ofMillis(100));
        }
        held.close();
        fixture().assertFree(holder, "x");
    }

    @Test
    default void S08_aWaiterThatEndedItsFutureLeavesNothing() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> cancelled = waiter.named("x").acquireAsync();
        CompletableFuture<Optional<Lease>> completed = waiter.named("x").tryAcquireAsync(ContractFixture.LONG);
        CompletableFuture<Lease> timedOut = waiter.named("x").acquireAsync().orTimeout(20, TimeUnit.MILLISECONDS);
        cancelled.cancel(true);
        completed.complete(Optional.empty());
        assertThatThrownBy(timedOut::join).hasRootCauseInstanceOf(TimeoutException.class);
        held.close();
        fixture().assertFree(holder, "x");
    }

    /** The cancellation and the grant meet: whoever wins, the lock is free afterwards or the caller's. */
    @Test
    default void S08_aCancelThatRacesWithTheGrantLeavesNothing() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Duration spread = fixture().releaseTime(holder);
        for (int i = 0; i < RACES; i++) {
            Lease held = afterTheRoundBefore(holder.named("x"));
            CompletableFuture<Lease> future = waiter.named("x").acquireAsync();
            Future<?> release = fixture().releaseMeanwhile(held, i, spread);
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

    /** As with the cancel: InterruptedException and nothing held, or a lease. */
    @Test
    default void S08_anInterruptThatRacesWithTheGrantLeavesNothing() throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Duration spread = fixture().releaseTime(holder);
        for (int i = 0; i < RACES; i++) {
            Lease held = afterTheRoundBefore(holder.named("x"));
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Future<Boolean> waiting = fixture().start(() -> {
                thread.complete(Thread.currentThread());
                try (Lease lease = lock.acquire()) {
                    return lease.isHeld() || Thread.interrupted();
                } catch (InterruptedException e) {
                    return true;
                } finally {
                    Thread.interrupted(); // the thread goes back to its pool
                }
            });
            Thread waiter = ApiStyle.result(thread);
            ContractFixture.eventually("the waiter waits", ContractFixture.LONG, () -> ContractFixture.waits(waiter));
            Future<?> release = fixture().releaseMeanwhile(held, i, spread);
            waiter.interrupt();
            assertThat(ApiStyle.result(waiting)).isTrue();
            ApiStyle.result(release);
        }
        fixture().assertFree(holder, "x");
    }

    /** Whatever the round before left has been removed after a second. */
    private static Lease afterTheRoundBefore(DistributedLock lock) throws InterruptedException {
        Optional<Lease> held = lock.tryAcquire(ContractFixture.PROMPT);
        assertThat(held)
                .as("the lock within %s of a withdrawal", ContractFixture.PROMPT)
                .isPresent();
        return held.orElseThrow();
    }

    @Test
    default void S10_anInterruptReturnsAtOnce() throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Lease held = holder.named("x").acquire();
        fixture().assertInterruptReturnsAtOnce(lock);
        held.close();
        fixture().assertFree(holder, "x");
    }

    @Test
    default void S10_aThreadInterruptedBeforehandAsksForNothing() throws Exception {
        DistributedLock lock = fixture().client().named("x");
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).as("the flag, once thrown").isFalse();
        fixture().assertFree(fixture().client(), "x");
    }

    @Test
    default void S10_aCancelReturnsAtOnce() throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Lease held = holder.named("x").acquire();
        DurationAssertions.overshoot("cancel", ContractFixture.PROMPT, Duration.ofMillis(50), () -> {
            CompletableFuture<Lease> waiting = lock.acquireAsync();
            long start = System.nanoTime();
            assertThat(waiting.cancel(true)).isTrue();
            return DurationAssertions.since(start);
        });
        held.close();
        fixture().assertFree(holder, "x");
    }
}
