// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests many concurrent acquires that wait only briefly or not at all. */
class EtcdCrowdTest extends OneServerTest {
    /**
     * With one round trip for each waiter, one after the other, the waits would end first; waiters that had no turn are
     * told that the lock is busy.
     */
    @Test
    void S09_S15_aWaiterThatHasNoTurnInTimeLearnsThatTheLockIsBusy() throws Exception {
        try (TcpProxy link = TcpProxy.to("127.0.0.1", server.port());
                LockClient holder = namespace.client();
                Lease held = holder.named("x").acquire();
                LockClient client = EtcdLocks.connect(EtcdOptions.connectTo(List.of("127.0.0.1:" + link.port()))
                        .namespace(namespace.name()))) {
            client.named("y").acquire().close();
            link.delay(Duration.ofMillis(60));
            List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                waiting.add(client.named("x").tryAcquireAsync(Duration.ofSeconds(3)));
            }
            for (CompletableFuture<Optional<Lease>> one : waiting) {
                assertThat(one.get(20, TimeUnit.SECONDS)).isEmpty();
            }
            Await.until(
                    "their keys are deleted", SOON, () -> namespace.queue("x").size() == 1);
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** Waiters that gave up before their turn delay no other waiter. */
    @Test
    void S10_S11_aQueueContinuesAfterManyWaitersGaveUp() throws Exception {
        try (LockClient client = namespace.client()) {
            Lease held = client.named("x").acquire();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                waiting.add(client.named("x").acquireAsync());
            }
            for (int i = 0; i < 60; i++) {
                if (i % 3 != 0) {
                    waiting.get(i).cancel(true);
                }
            }
            held.close();
            for (int i = 0; i < 60; i += 3) {
                waiting.get(i).get(10, TimeUnit.SECONDS).close();
            }
            Await.until("no keys remain", SOON, () -> namespace.keys().isEmpty());
        }
    }

    /** Its own key was in the queue by then, so it becomes the first. */
    @Test
    void S09_aNonWaitingAcquireWhosePredecessorLeavesMeanwhileIsGranted() throws Exception {
        try (LockClient client = namespace.client(wire);
                LockClient other = namespace.client()) {
            Lease held = other.named("x").acquire();
            String key = namespace.queue("x").get(0).key();
            wire.before("Txn", () -> {}, () -> namespace.raw().delete(key));
            Await.until("the session is watched", SOON, wire::sessionIsWatched);
            wire.reset();
            Lease lease = client.named("x").tryAcquire().orElseThrow();
            assertThat(wire.counts()).containsEntry("Txn", 2).doesNotContainKeys("Put", "DeleteRange");
            assertThat(lease.fencingToken()).isGreaterThan(held.fencingToken());
            assertThat(namespace.queue("x"))
                    .singleElement()
                    .satisfies(own -> assertThat(own.createRevision()).isEqualTo(lease.fencingToken()));
            lease.close();
        }
    }

    @Test
    void S09_clientsThatRetryInALoopGetAFreeLock() throws Exception {
        int threads = 8;
        AtomicInteger got = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        ExecutorService spinning = Executors.newFixedThreadPool(threads);
        List<Future<?>> ends = new ArrayList<>();
        try (LockClient one = namespace.client();
                LockClient two = namespace.client()) {
            long until = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            for (int i = 0; i < threads; i++) {
                LockClient client = i % 2 == 0 ? one : two;
                ends.add(spinning.submit(() -> {
                    while (got.get() < 100 && System.nanoTime() - until < 0) {
                        client.named("x").tryAcquire().ifPresent(lease -> {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            inside.decrementAndGet();
                            got.incrementAndGet();
                            lease.close();
                        });
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get(60, TimeUnit.SECONDS);
            }
            assertThat(got.get()).isGreaterThanOrEqualTo(100);
            Await.until("no keys remain", SOON, () -> namespace.keys().isEmpty());
        } finally {
            spinning.shutdownNow();
        }
    }
}
