// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** S08 and S10: who no longer wants the lock returns at once and leaves nothing. */
interface WithdrawalContract extends Contract {
    int RACES = 200;

    @ParameterizedTest
    @EnumSource
    default void S08_aWaiterThatTimedOutLeavesNothing(Face face) throws Exception {
        LockClient holder = bench().client();
        LockClient waiter = bench().client();
        Lease held = holder.named("x").acquire();
        for (int i = 0; i < 10; i++) {
            try {
                assertThat(face.tryAcquire(waiter.named("x"), Duration.ofMillis(100)))
                        .isEmpty();
            } catch (BackendUnavailableException e) {
                // S15: what a loaded machine has not answered in so short a time is not called busy. It leaves nothing
                // either.
            }
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
        for (int i = 0; i < RACES; i++) {
            Lease held = holder.named("x").tryAcquire(Bench.LONG).orElseThrow();
            CompletableFuture<Lease> future = waiter.named("x").acquireAsync();
            CyclicBarrier together = new CyclicBarrier(2);
            Future<?> release = releaseAfter(together, held, i);
            together.await();
            if (!future.cancel(true)) {
                future.join().close();
            }
            Face.result(release);
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
        for (int i = 0; i < RACES; i++) {
            Lease held = holder.named("x").tryAcquire(Bench.LONG).orElseThrow();
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
            Thread waiter = Face.result(thread);
            Bench.eventually("the waiter waits", Bench.LONG, () -> waiter.getState() == Thread.State.WAITING);
            CyclicBarrier together = new CyclicBarrier(2);
            Future<?> release = releaseAfter(together, held, i);
            together.await();
            waiter.interrupt();
            assertThat(Face.result(waiting)).isTrue();
            Face.result(release);
        }
        bench().assertFree(holder, "x");
    }

    /** Releases somewhat later in each round, so that the rounds together meet every moment of the withdrawal. */
    private Future<?> releaseAfter(CyclicBarrier together, Lease held, int round) {
        return bench().start(() -> {
            together.await();
            long until = System.nanoTime() + (round % 50) * 2_000L;
            while (System.nanoTime() - until < 0) {
                Thread.onSpinWait();
            }
            return held.release();
        });
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
        Timing.overshoot("cancel", Bench.PROMPT, Duration.ofMillis(50), () -> {
            CompletableFuture<Lease> waiting = lock.acquireAsync();
            long start = System.nanoTime();
            assertThat(waiting.cancel(true)).isTrue();
            return Timing.since(start);
        });
        held.close();
        bench().assertFree(holder, "x");
    }
}
