// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that callbacks run once and on the expected thread, and that every method that runs code under a lock reports lost
 * leases and interrupts.
 *
 * <p>Rules S07, S08, S10, S16.
 */
interface CallbackContract extends Contract {
    /** A maximum hold that ends a lease soon. */
    Duration BRIEF = Duration.ofMillis(400);

    /** A maximum hold within which a test can release a lease, or register its callbacks, though the machine stalls. */
    Duration ENOUGH = Duration.ofSeconds(3);

    /** The forms in which a lock runs a body, blocking or not. */
    enum BodyForm {
        RUN {
            @Override
            void run(DistributedLock lock, Body body) throws Exception {
                lock.run(body::run);
            }
        },
        TRY_RUN {
            @Override
            void run(DistributedLock lock, Body body) throws Exception {
                assertThat(lock.tryRun(ContractTestFixture.LONG, body::run)).isTrue();
            }
        },
        CALL {
            @Override
            void run(DistributedLock lock, Body body) throws Exception {
                lock.call(lease -> {
                    body.run(lease);
                    return "result";
                });
            }
        },
        TRY_CALL {
            @Override
            void run(DistributedLock lock, Body body) throws Exception {
                assertThat(lock.tryCall(ContractTestFixture.LONG, lease -> {
                            body.run(lease);
                            return "result";
                        }))
                        .contains("result");
            }
        },
        CALL_ASYNC {
            @Override
            void run(DistributedLock lock, Body body) throws Exception {
                ApiStyle.result(lock.callAsync(lease -> CompletableFuture.supplyAsync(() -> {
                    try {
                        body.run(lease);
                        return "result";
                    } catch (RuntimeException e) {
                        throw e;
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                })));
            }
        };

        abstract void run(DistributedLock lock, Body body) throws Exception;
    }

    /** A body that may fail. */
    interface Body {
        void run(Lease lease) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    default void S07_aLossWhileABodyRunsIsThrown(BodyForm form) throws Exception {
        LockClient client = fixture().client();
        DistributedLock lock = client.named("x", LockOptions.defaults().maxHold(BRIEF));
        assertThatThrownBy(() -> form.run(lock, lease -> ContractTestFixture.await(lease.lost())))
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        e -> assertThat(e.reason().kind()).isEqualTo(LossReason.Kind.MAX_HOLD));
        Throwable failure = catchThrowable(() -> form.run(lock, lease -> {
            ContractTestFixture.await(lease.lost());
            throw new IOException("from the body");
        }));
        Throwable thrown = failure instanceof CompletionException ? failure.getCause() : failure;
        assertThat(thrown).isInstanceOf(IOException.class).hasMessage("from the body");
        form.run(client.named("x"), lease -> assertThat(lease.isHeld()).isTrue());
        fixture().assertFree(fixture().client(), "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S07_aRemovalWhileABodyRunsIsThrown(BodyForm form) throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        DistributedLock lock = client.named("x", fixture().shortLease(client));
        Throwable thrown = ContractTestFixture.thrownBy(() -> form.run(lock, lease -> {
            fixture().removeGrant("x", other, "S07 while a body runs");
            ContractTestFixture.await(lease.lost());
        }));
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        e -> assertThat(e.reason().kind()).isEqualTo(LossReason.Kind.REMOVED));
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CALL_ASYNC")
    default void S10_anInterruptEndsTheWaitOfEachForm(BodyForm form) throws Exception {
        LockClient holder = fixture().client();
        DistributedLock lock = fixture().client().named("x");
        Lease held = holder.named("x").acquire();
        AtomicBoolean ran = new AtomicBoolean();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<Throwable> waiting = fixture().start(() -> {
            thread.complete(Thread.currentThread());
            return catchThrowable(() -> form.run(lock, lease -> ran.set(true)));
        });
        Thread waiter = ApiStyle.result(thread);
        ContractTestFixture.eventually(
                "the waiter waits", ContractTestFixture.LONG, () -> ContractTestFixture.isWaiting(waiter));
        long start = System.nanoTime();
        waiter.interrupt();
        assertThat(ApiStyle.result(waiting)).isInstanceOf(InterruptedException.class);
        assertThat(DurationAssertions.since(start)).isLessThan(ContractTestFixture.PROMPT);
        assertThat(held.isHeld()).isTrue();
        held.close();
        fixture().assertFree(holder, "x");
        assertThat(ran).as("the body ran").isFalse();
    }

    /** Three listeners of one lease, one of which throws, and two of another lease that is not lost. */
    @Test
    default void S07_eachListenerIsNotifiedOnceOfItsOwnLease() throws Exception {
        LockClient client = fixture().client();
        Lease lost =
                client.named("lost", LockOptions.defaults().maxHold(ENOUGH)).acquire();
        Lease kept = client.named("kept").acquire();
        List<String> calls = new CopyOnWriteArrayList<>();
        lost.lost().thenRun(() -> {
            calls.add("first");
            throw new IllegalStateException("thrown by a listener");
        });
        CompletableFuture<LossReason> cancelled = lost.lost();
        cancelled.cancel(true);
        lost.lost().complete(new LossReason(LossReason.Kind.EXPIRED, "completed by a listener"));
        lost.lost().thenRun(() -> calls.add("second"));
        lost.lost().thenRun(() -> calls.add("third"));
        lost.onExpiring(ENOUGH.dividedBy(2), () -> {
            calls.add("expiring");
            throw new IllegalStateException("thrown by a callback");
        });
        lost.onExpiring(ENOUGH.dividedBy(4), () -> calls.add("expiring later"));
        lost.onExpiring(Duration.ofDays(1), () -> calls.add("expiring at once"));
        kept.lost().thenRun(() -> calls.add("wrong"));
        kept.lost().thenRun(() -> calls.add("wrong"));
        kept.onExpiring(Duration.ofMillis(10), () -> calls.add("wrong"));
        ContractTestFixture.eventually("all callbacks ran", ContractTestFixture.LONG, () -> calls.size() >= 6);
        assertThat(ContractTestFixture.await(lost.lost()).kind()).isEqualTo(LossReason.Kind.MAX_HOLD);
        assertThat(calls.indexOf("expiring at once")).isLessThan(calls.indexOf("expiring"));
        assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(lost.release()).isEqualTo(ReleaseOutcome.LOST);
        fixture().assertFree(client, "lost");
        assertThat(calls)
                .as("callbacks that ran")
                .containsExactlyInAnyOrder(
                        "first", "second", "third", "expiring", "expiring later", "expiring at once");
    }

    @Test
    default void S07_nothingRunsForALeaseThatWasReleased() throws Exception {
        LockClient client = fixture().client();
        List<String> calls = new CopyOnWriteArrayList<>();
        LockOptions options = LockOptions.defaults().maxHold(ENOUGH);
        for (int i = 0; i < 3; i++) {
            Lease lease = client.named("x", options).acquire();
            lease.lost().thenRun(() -> calls.add("lost"));
            lease.onExpiring(ENOUGH.dividedBy(2), () -> calls.add("expiring"));
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            lease.lost().thenRun(() -> calls.add("lost, of a listener after the release"));
            lease.onExpiring(ENOUGH.dividedBy(2), () -> calls.add("expiring, of a callback after the release"));
        }
        // A lease with the same limits tells when those of the released ones have passed.
        Lease last = client.named("x", options).acquire();
        ContractTestFixture.await(last.lost());
        assertThat(calls).isEmpty();
    }

    @Test
    default void S07_callbacksRunOnTheExecutorOfTheClient() throws Exception {
        String name = "executor of the application";
        ExecutorService executor = Executors.newCachedThreadPool(task -> new Thread(task, name));
        try {
            LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(executor));
            Map<String, CompletableFuture<String>> threads = Map.of(
                    "lost()", new CompletableFuture<>(),
                    "onExpiring", new CompletableFuture<>(),
                    "acquireAsync", new CompletableFuture<>(),
                    "callAsync", new CompletableFuture<>());
            Lease lease =
                    client.named("x", LockOptions.defaults().maxHold(ENOUGH)).acquire();
            lease.lost().thenRun(() -> complete(threads, "lost()"));
            lease.onExpiring(ENOUGH.dividedBy(2), () -> complete(threads, "onExpiring"));
            client.named("x").acquireAsync().thenAccept(next -> {
                complete(threads, "acquireAsync");
                next.releaseAsync();
            });
            client.named("x").callAsync(next -> {
                complete(threads, "callAsync");
                return CompletableFuture.completedFuture("done");
            });
            for (Map.Entry<String, CompletableFuture<String>> thread : threads.entrySet()) {
                assertThat(ApiStyle.result(thread.getValue()))
                        .as("thread that ran the stage of %s", thread.getKey())
                        .isEqualTo(name);
            }
            client.close();
        } finally {
            executor.shutdown();
        }
    }

    private static void complete(Map<String, CompletableFuture<String>> threads, String callback) {
        Objects.requireNonNull(threads.get(callback))
                .complete(Thread.currentThread().getName());
    }

    /** Returns an executor whose only thread does nothing until the latch opens. */
    private static ExecutorService busyUntil(CountDownLatch latch) {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        executor.execute(() -> awaitQuietly(latch));
        return executor;
    }

    /** The state of leases and waits changes in time, though no callback can run. */
    @Test
    default void S07_anExecutorThatHangsOrRejectsDelaysNoLossAndNoGrant() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        ExecutorService executor = busyUntil(hanging);
        try {
            LockClient hangs = fixture().client(ClientOptions.defaults().callbackExecutor(executor));
            LockClient rejects = fixture().client(ClientOptions.defaults().callbackExecutor(task -> {
                throw new RejectedExecutionException("the executor of the application rejects");
            }));
            LockClient fails = fixture().client(ClientOptions.defaults().callbackExecutor(task -> {
                throw new IllegalStateException("the executor of the application has stopped");
            }));
            List<LossReason> reasons = new CopyOnWriteArrayList<>();
            for (LockClient client : List.of(hangs, rejects, fails)) {
                Lease kept = client.named("kept", fixture().shortLease(client)).acquire();
                Lease lease =
                        client.named("x", LockOptions.defaults().maxHold(BRIEF)).acquire();
                lease.lost().thenAccept(client == hangs ? reason -> {} : reasons::add);
                lease.onExpiring(BRIEF.dividedBy(2), () -> {});
                Future<Lease> waiting = fixture().start(() -> client.named("x").acquire());
                ContractTestFixture.eventually(
                        "S07: the lease ends at its maximum hold", ContractTestFixture.LONG, () -> !lease.isHeld());
                assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
                assertThat(kept.isHeld()).isTrue();
                assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
            }
            ContractTestFixture.eventually(
                    "S07: listeners are notified though the executor rejects or fails",
                    ContractTestFixture.LONG,
                    () -> reasons.size() == 2);
            assertThat(reasons).extracting(LossReason::kind).containsOnly(LossReason.Kind.MAX_HOLD);
        } finally {
            hanging.countDown();
            executor.shutdown();
        }
    }

    /** A listener blocks; an executor that runs it on the calling thread must not let it block the others. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void S07_aListenerThatBlocksItsCallerDelaysNoOtherLoss(boolean direct) throws Exception {
        ThreadPoolExecutor saturated = new ThreadPoolExecutor(
                1, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), new ThreadPoolExecutor.CallerRunsPolicy());
        LockClient client =
                fixture().client(ClientOptions.defaults().callbackExecutor(direct ? Runnable::run : saturated));
        CountDownLatch blocking = new CountDownLatch(1);
        try {
            if (!direct) {
                saturated.execute(() -> awaitQuietly(blocking)); // from now on its callers run the tasks
            }
            Lease first =
                    client.named("first", LockOptions.defaults().maxHold(BRIEF)).acquire();
            Lease second = client.named("second", LockOptions.defaults().maxHold(BRIEF.multipliedBy(2)))
                    .acquire();
            Lease renewed =
                    client.named("renewed", fixture().shortLease(client)).acquire();
            first.lost().thenRun(() -> awaitQuietly(blocking));
            assertThat(ContractTestFixture.await(second.lost()).kind()).isEqualTo(LossReason.Kind.MAX_HOLD);
            assertThat(first.isHeld()).isFalse();
            Duration lease = fixture().backend().lease();
            ContractTestFixture.throughout(
                    "more than a lease passes", lease.multipliedBy(3).dividedBy(2), () -> {
                        assertThat(renewed.isHeld())
                                .as("S07: while a listener of another lease blocks")
                                .isTrue();
                    });
            assertThat(renewed.release()).isEqualTo(ReleaseOutcome.RELEASED);
        } finally {
            blocking.countDown();
            saturated.shutdown();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(ContractTestFixture.LONG.multipliedBy(3).toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A listener that reacts to the loss by a release, as code with a finally block does, must not wait for itself. */
    @Test
    default void S07_aListenerMayReleaseTheLostLease() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(executor));
            Lease lease =
                    client.named("x", LockOptions.defaults().maxHold(BRIEF)).acquire();
            CompletableFuture<ReleaseOutcome> byListener = new CompletableFuture<>();
            CompletableFuture<Void> listening = new CompletableFuture<>();
            lease.lost().thenRun(() -> {
                listening.complete(null);
                byListener.complete(lease.release());
            });
            ApiStyle.result(listening);
            assertThat(ApiStyle.result(fixture().start(lease::release)))
                    .as("S05: on another thread")
                    .isEqualTo(ReleaseOutcome.LOST);
            assertThat(ApiStyle.result(byListener)).as("S05: by the listener").isEqualTo(ReleaseOutcome.LOST);
            client.close();
        } finally {
            executor.shutdown();
        }
    }

    /** The grant cannot be delivered while the executor is busy; its caller gives up before that. */
    @Test
    default void S08_aGrantThatWaitsForTheExecutorIsReleasedWhenItsCallerGivesUp() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        ExecutorService executor = busyUntil(busy);
        try {
            LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(executor));
            LockClient other = fixture().client();
            List<CompletableFuture<?>> requests = List.of(
                    client.named("cancelled").acquireAsync(),
                    client.named("completed").tryAcquireAsync(ContractTestFixture.LONG),
                    client.named("timed out").acquireAsync());
            List<String> names = List.of("cancelled", "completed", "timed out");
            for (String name : names) {
                ContractTestFixture.awaitGrant(other, name);
            }
            requests.get(0).cancel(true);
            requests.get(1).completeExceptionally(new IllegalStateException("completed by its caller"));
            requests.get(2).orTimeout(1, TimeUnit.MILLISECONDS);
            for (String name : names) {
                assertThat(other.named(name).tryAcquire(ContractTestFixture.PROMPT))
                        .as("S08: lock \"%s\", whose request was given up", name)
                        .hasValueSatisfying(Lease::close);
            }
        } finally {
            busy.countDown();
            executor.shutdown();
        }
    }

    /** The client closes while its grants wait for the executor. */
    @Test
    default void S16_aGrantThatWaitsForTheExecutorIsNotDeliveredAfterTheClose() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        ExecutorService executor = busyUntil(busy);
        try {
            LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(executor));
            LockClient other = fixture().client();
            AtomicBoolean ran = new AtomicBoolean();
            List<CompletableFuture<?>> requests = List.of(
                    client.named("acquired").acquireAsync(),
                    client.named("tried").tryAcquireAsync(ContractTestFixture.LONG),
                    client.named("called").callAsync(lease -> {
                        ran.set(true);
                        return CompletableFuture.completedFuture("result");
                    }));
            for (String name : List.of("acquired", "tried", "called")) {
                ContractTestFixture.awaitGrant(other, name);
            }
            client.close();
            busy.countDown();
            for (CompletableFuture<?> request : requests) {
                assertThat(catchThrowable(() -> ApiStyle.result(request)))
                        .hasStackTraceContaining(ClientClosedException.class.getName());
            }
            assertThat(ran).as("S16: a body ran after the close").isFalse();
        } finally {
            busy.countDown();
            executor.shutdown();
        }
    }
}
