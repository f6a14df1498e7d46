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
        LockClient holder = bench().client();
        LockClient waiter = bench().client();
        Lease held = holder.named("x").acquire();
        for (int i = 0; i < 10; i++) {
            Bench.waitInVain(style, waiter.named("x"), Duration.ofMillis(100));
        }
        held.close();
        bench().assertFree(holder, "x");
    }

    @Test
    default void S08_aWaiterThatEndedItsFutureLeavesNothing() throws Exception {
        LockClient holder = bench().client();
        LockClient waiter = bench().client();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> cancelled = waiter.named("x").acquireAsync();
        CompletableFuture<Optional<Lease>> completed = waiter.named("x").tryAcquireAsync(Bench.LONG);
        CompletableFuture<Lease> timedOut = waiter.named("x").acquireAsync().orTimeout(20, TimeUnit.MILLISECONDS);
        cancelled.cancel(true);
        completed.complete(Optional.empty());
        assertThatThrownBy(timedOut::join).hasRootCauseInstanceOf(TimeoutException.class);
        held.close();
        bench().assertFree(holder, "x");
    }

    /** The cancellation and the grant meet: whoever wins, the lock is free afterwards or the caller's. */
    @Test
    default void S08_aCancelThatRacesWithTheGrantLeavesNothing() throws Exception {
        LockClient holder = bench().client();
        LockClient waiter = bench().client();
        Duration spread = bench().releaseTime(holder);
        for (int i = 0; i < RACES; i++) {
            Lease held = afterTheRoundBefore(holder.named("x"));
            CompletableFuture<Lease> future = waiter.named("x").acquireAsync();
            Future<?> release = bench().releaseMeanwhile(held, i, spread);
            if (!future.cancel(true)) {
                future.join().close();
            }
            ApiStyle.result(release);
            if (i % 10 == 0) {
                bench().assertFree(holder, "x");
            }
        }
        bench().assertFree(holder, "x");
    }

    /** As with the cancel: InterruptedException and nothing held, or a lease. */
    @Test
    default void S08_anInterruptThatRacesWithTheGrantLeavesNothing() throws Exception {
        LockClient holder = bench().client();
        DistributedLock lock = bench().client().named("x");
        Duration spread = bench().releaseTime(holder);
        for (int i = 0; i < RACES; i++) {
            Lease held = afterTheRoundBefore(holder.named("x"));
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Future<Boolean> waiting = bench().start(() -> {
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
            Bench.eventually("the waiter waits", Bench.LONG, () -> Bench.waits(waiter));
            Future<?> release = bench().releaseMeanwhile(held, i, spread);
            waiter.interrupt();
            assertThat(ApiStyle.result(waiting)).isTrue();
            ApiStyle.result(release);
        }
        bench().assertFree(holder, "x");
    }

    /** Whatever the round before left has been removed after a second. */
    private static Lease afterTheRoundBefore(DistributedLock lock) throws InterruptedException {
        Optional<Lease> held = lock.tryAcquire(Bench.PROMPT);
        assertThat(held).as("the lock within %s of a withdrawal", Bench.PROMPT).isPresent();
        return held.orElseThrow();
    }

    @Test
    default void S10_anInterruptReturnsAtOnce() throws Exception {
        LockClient holder = bench().client();
        DistributedLock lock = bench().client().named("x");
        Lease held = holder.named("x").acquire();
        bench().assertInterruptReturnsAtOnce(lock);
        held.close();
        bench().assertFree(holder, "x");
    }

    @Test
    default void S10_aThreadInterruptedBeforehandAsksForNothing() throws Exception {
        DistributedLock lock = bench().client().named("x");
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).as("the flag, once thrown").isFalse();
        bench().assertFree(bench().client(), "x");
    }

    @Test
    default void S10_aCancelReturnsAtOnce() throws Exception {
        LockClient holder = bench().client();
        DistributedLock lock = bench().client().named("x");
        Lease held = holder.named("x").acquire();
        TimeBounds.overshoot("cancel", Bench.PROMPT, Duration.ofMillis(50), () -> {
            CompletableFuture<Lease> waiting = lock.acquireAsync();
            long start = System.nanoTime();
            assertThat(waiting.cancel(true)).isTrue();
            return TimeBounds.since(start);
        });
        held.close();
        bench().assertFree(holder, "x");
    }
}
