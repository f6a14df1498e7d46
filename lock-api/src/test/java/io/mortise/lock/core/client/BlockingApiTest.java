// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.core.runtime.SystemClock;
import io.mortise.lock.spi.LeaseStoreBackend;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the API with real threads and the real clock, on a backend of the simple SPI. */
class BlockingApiTest {
    private static final LockOptions SHORT = LockOptions.defaults().leaseDuration(Duration.ofSeconds(1));

    private final SystemClock storeClock = new SystemClock();
    private final MapStore store = new MapStore(storeClock);
    private final Queue<LockClient> clients = new ConcurrentLinkedQueue<>();

    private LockClient client() {
        return client(ClientOptions.defaults());
    }

    private LockClient clientWithShortTimeout() {
        return client(ClientOptions.defaults().requestTimeout(Duration.ofMillis(500)));
    }

    private LockClient client(ClientOptions options) {
        LockClient client = BackendClients.open(context -> new LeaseStoreBackend(store, context), options);
        clients.add(client);
        return client;
    }

    @AfterEach
    void end() {
        store.hung = false;
        clients.forEach(LockClient::close);
        storeClock.stop();
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }

    private static long millis(ThrowingRunnable action) throws Exception {
        long begun = System.nanoTime();
        action.run();
        return (System.nanoTime() - begun) / 1_000_000;
    }

    private interface ThrowingRunnable {
        void run() throws Exception;
    }

    /** Nobody could unlock it, and it would be renewed until the client closes. */
    @Test
    @SuppressWarnings({"LockNotBeforeTry", "ThreadLocalUsage"}) // a lock fails, and so does its thread local
    void S08_aJavaLockWhoseHoldCannotBeKeptReleasesItsLease() throws Exception {
        Error full = new OutOfMemoryError("for the test");
        ThreadLocal<CoreLeaseLock.@Nullable Hold> broken = new ThreadLocal<>() {
            @Override
            public void set(CoreLeaseLock.@Nullable Hold hold) {
                throw full;
            }
        };
        CoreLeaseLock lock = new CoreLeaseLock((CoreLock) client().named("x"), broken);
        assertThatThrownBy(lock::lock).isSameAs(full);
        assertThatThrownBy(lock::lockInterruptibly).isSameAs(full);
        assertThatThrownBy(lock::tryLock).isSameAs(full);
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.DAYS)).isSameAs(full);
        eventually(store.rows::isEmpty);
    }

    @Test
    void S01_S03_threadsExcludeEachOtherAndTokensIncrease() throws Exception {
        LockClient one = client();
        LockClient two = client();
        AtomicInteger inside = new AtomicInteger();
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        Thread[] threads = new Thread[6];
        for (int i = 0; i < threads.length; i++) {
            DistributedLock lock = (i % 2 == 0 ? one : two).named("x");
            threads[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < 15; n++) {
                        lock.run(lease -> {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            tokens.add(lease.fencingToken());
                            inside.decrementAndGet();
                        });
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(List.copyOf(tokens)).hasSize(90).isSorted().doesNotHaveDuplicates();
        eventually(store.rows::isEmpty);
    }

    @Test
    void S10_anInterruptEndsTheWaitAndLeavesNoOrphan() throws Exception {
        LockClient client = clientWithShortTimeout();
        Lease held = client().named("x").acquire();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            try {
                client.named("x").acquire();
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        waiter.start();
        eventually(() -> waiter.getState() == Thread.State.WAITING);
        store.hung = true;
        assertThat(millis(() -> {
                    waiter.interrupt();
                    waiter.join();
                }))
                .isLessThan(10_000);
        assertThat(seen.get()).isInstanceOf(InterruptedException.class);
        store.hung = false;
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        eventually(store.rows::isEmpty);
        assertThat(((CoreClient) client).queues.size()).isZero();
    }

    @Test
    void S10_aThreadThatIsAlreadyInterruptedSendsNoRequest() {
        LockClient client = client();
        long before = store.requests.get();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> client.named("x").acquire()).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
        assertThat(store.requests.get()).isEqualTo(before);
    }

    @Test
    void S10_anInterruptedReleaseIsUnknownAndContinuesInTheBackground() throws Exception {
        Lease lease = clientWithShortTimeout().named("x").acquire();
        store.hung = true;
        Thread.currentThread().interrupt();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(Thread.interrupted()).isTrue();
        store.hung = false;
        eventually(store.rows::isEmpty);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void S15_anAttemptOnASilentStoreFailsAfterOneRequestTimeout() throws Exception {
        LockClient client = clientWithShortTimeout();
        store.hung = true;
        assertThat(millis(() -> assertThatThrownBy(() -> client.named("x").tryAcquire())
                        .isInstanceOf(io.mortise.lock.BackendUnavailableException.class)
                        .hasMessageContaining("map:1")))
                .isLessThan(5_000);
    }

    @Test
    void S07_runReportsALossUnlessTheBodyThrows() throws Exception {
        LockClient client = client();
        DistributedLock lock = client.named("x", SHORT);
        assertThatThrownBy(() -> lock.run(lease -> {
                    store.rows.clear();
                    eventually(() -> !lease.isHeld());
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> lock.run(lease -> {
                    store.rows.clear();
                    throw new IllegalStateException("mine");
                }))
                .isInstanceOf(IllegalStateException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        DistributedLock kept = client.named("kept");
        assertThat(kept.<Integer, RuntimeException>call(lease -> 7)).isEqualTo(7);
        try (Lease held = kept.acquire()) {
            assertThat(held.isHeld()).isTrue();
            assertThat(kept.<RuntimeException>tryRun(Duration.ZERO, lease -> {}))
                    .isFalse();
        }
    }

    @Test
    void S08_callAsyncReleasesWhenTheStageCompletesOrIsNull() throws Exception {
        DistributedLock lock = client().named("x");
        CompletableFuture<String> stage = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<String> result = lock.callAsync(lease -> {
            begun.countDown();
            return stage;
        });
        begun.await();
        assertThat(store.rows).hasSize(1);
        stage.complete("done");
        assertThat(result.get(5, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(store.rows).isEmpty();
        assertThatThrownBy(() -> lock.<String>callAsync(lease -> noStage()).get(5, TimeUnit.SECONDS))
                .hasCauseInstanceOf(NullPointerException.class);
        eventually(store.rows::isEmpty);
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T noStage() {
        return null;
    }

    @Test
    void S08_aFutureThatEndedEarlyReleasesTheGrant() throws Exception {
        DistributedLock lock = client().named("x");
        for (int i = 0; i < 50; i++) {
            CompletableFuture<Lease> future = lock.acquireAsync();
            future.thenAccept(Lease::releaseAsync); // in case the lease is delivered before the future ends
            if (i % 2 == 0) {
                future.cancel(true);
            } else {
                future.orTimeout(1, TimeUnit.NANOSECONDS);
            }
        }
        eventually(store.rows::isEmpty);
    }

    @Test
    void S07_userCodeRunsOnCallbackThreadsAndASlowCallbackDelaysNoOther() throws Exception {
        LockClient client = client();
        LockOptions untilAfterAPause = LockOptions.defaults().leaseDuration(Duration.ofSeconds(9));
        Lease slow = client.named("slow", untilAfterAPause).acquire();
        Lease other = client.named("other", untilAfterAPause).acquire();
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<String> thread = new CompletableFuture<>();
        slow.lost().thenRun(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        other.lost().thenRun(() -> thread.complete(Thread.currentThread().getName()));
        store.rows.clear();
        assertThat(thread.get(20, TimeUnit.SECONDS)).startsWith("mortise-callback");
        assertThat(other.release()).isEqualTo(ReleaseOutcome.LOST);
        end.countDown();
    }

    @Test
    void S07_anExecutorThatRejectsCallbacksLosesNoNotification() throws Exception {
        LockClient client = client(ClientOptions.defaults().callbackExecutor(task -> {
            throw new RejectedExecutionException("full");
        }));
        Lease lease = client.named("x", SHORT).acquire();
        store.rows.clear();
        CompletableFuture<LossReason> lost = lease.lost();
        assertThat(lost.get(5, TimeUnit.SECONDS).kind()).isIn(LossReason.Kind.REMOVED, LossReason.Kind.EXPIRED);
    }

    @Test
    void S16_closeOnASilentStoreIsBoundedAndEndsAllWaits() throws Exception {
        LockClient client = clientWithShortTimeout();
        Lease releasing = client.named("r").acquire();
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        store.hung = true;
        AtomicReference<ReleaseOutcome> outcome = new AtomicReference<>();
        Thread releaser = new Thread(() -> outcome.set(releasing.release()));
        releaser.start();
        eventually(() -> releaser.getState() == Thread.State.WAITING || !releaser.isAlive());
        Thread.currentThread().interrupt(); // makes close() not wait at all
        assertThat(millis(client::close)).isLessThan(6_000);
        assertThat(Thread.interrupted()).isTrue();
        releaser.join(5_000);
        assertThat(outcome.get()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(held.lost().get(5, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.CLIENT_CLOSED);
        assertThatThrownBy(() -> waiting.get(5, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> client.named("y").acquire()).isInstanceOf(ClientClosedException.class);
        client.close();
    }

    @Test
    void S16_closeFromACallbackEndsAllThreads() throws Exception {
        Thread[] before = threads();
        LockClient client = client();
        Lease lease = client.named("x", SHORT).acquire();
        CountDownLatch closed = new CountDownLatch(1);
        lease.lost().thenRun(() -> {
            client.close();
            closed.countDown();
        });
        store.rows.clear();
        assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
        eventually(() -> threads().length <= before.length);
    }

    private static Thread[] threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().startsWith("mortise-"))
                .toArray(Thread[]::new);
    }
}
