// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.etcd.contender.EtcdContender;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how many requests each operation sends, counted in the client. */
@Tag("once")
class EtcdRequestCountTest extends OneServerTest {
    @Test
    void anUncontendedCycleTakesOneTransactionOneDeletionAndNoWatch() throws Exception {
        try (LockClient client = namespace.client(wire)) {
            client.named("x").acquire().close();
            Await.until("the session is watched", SOON, wire::sessionIsWatched);
            long start;
            long took;
            do { // on a stalled machine this is a long hold, which is watched
                Await.until("the watch of an earlier hold ended", SOON, () -> wire.watching() == 1);
                wire.reset();
                start = System.nanoTime();
                client.named("x").acquire().close();
                client.named("x").tryAcquire().orElseThrow().close();
                took = System.nanoTime() - start;
            } while (took >= EtcdContender.WATCH_OWN_KEY_AFTER.toNanos());
            long ticks = start
                    + took
                    + EtcdContender.WATCH_OWN_KEY_AFTER.multipliedBy(3).toNanos();
            Await.until("a deferred watch would be registered", SOON, () -> System.nanoTime() - ticks > 0);
            assertThat(wire.counts()).isEqualTo(Map.of("Txn", 2, "DeleteRange", 2));
        }
    }

    @Test
    void S07_aLeaseThatIsHeldForAWhileIsWatchedOnTheSameStreamAndReadOnce() throws Exception {
        try (LockClient client = namespace.client(wire)) {
            Await.until("the session is watched", SOON, wire::sessionIsWatched);
            wire.reset();
            Lease lease = client.named("x").acquire();
            Map<String, Integer> registered = Map.of("Txn", 1, "Range", 1);
            Await.until("the lease is watched", SOON, () -> wire.counts().equals(registered));
            assertThat(wire.watching()).isEqualTo(2);
            assertThat(wire.streams()).isEqualTo(1);
            lease.close();
        }
    }

    @Test
    void S09_aFailedNonWaitingAcquireIsOneRequestAndOneThatDeletesItsKey() throws Exception {
        try (LockClient client = namespace.client(wire);
                LockClient other = namespace.client();
                Lease held = other.named("x").acquire()) {
            Await.until("the session is watched", SOON, wire::sessionIsWatched);
            wire.reset();
            assertThat(client.named("x").tryAcquire()).isEmpty();
            Await.until("the key is deleted", SOON, () -> namespace.queue("x").size() == 1);
            assertThat(wire.counts()).isEqualTo(Map.of("Txn", 2));
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** The first waiter of a client causes the watch and one read of the queue. */
    @Test
    void S11_aHandOffIsTheReleaseAndOneRequestOfTheWokenWaiter() throws Exception {
        try (LockClient client = namespace.client(wire);
                LockClient holder = namespace.client()) {
            Lease held = holder.named("x").acquire();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                waiting.add(client.named("x").acquireAsync());
            }
            Await.until(
                    "the waiters are queued", SOON, () -> namespace.queue("x").size() == 11);
            Await.until("a watch is registered", SOON, () -> wire.counts().getOrDefault("Range", 0) == 3);
            wire.reset();
            held.close();
            while (!waiting.isEmpty()) {
                CompletableFuture<?> next = CompletableFuture.anyOf(waiting.toArray(CompletableFuture[]::new));
                Lease lease = (Lease) next.get(5, TimeUnit.SECONDS);
                waiting.removeIf(CompletableFuture::isDone);
                lease.close();
            }
            assertThat(wire.counts()).isEqualTo(Map.of("Txn", 10, "DeleteRange", 10));
        }
    }

    @Test
    void aThousandHeldLocksShareOneLeaseAndARenewalTakesTwoRequests() throws Exception {
        EtcdOptions quick =
                namespace.options().leaseDuration(Duration.ofSeconds(4)).interceptors(List.of(wire));
        try (LockClient client = EtcdLocks.connect(quick)) {
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                held.add(client.named("x" + i).acquire());
            }
            assertThat(namespace.sessions()).hasSize(1);
            assertThat(namespace.keys())
                    .hasSize(1_000)
                    .allMatch(key -> key.lease() == namespace.sessions().get(0).lease());
            // Each renewal is a keepalive and then a read.
            Await.until(
                    "all are watched",
                    SOON,
                    () -> wire.counts().getOrDefault("Range", 0)
                            >= 1_002 + wire.counts().getOrDefault("LeaseKeepAlive", 0));
            wire.reset();
            Await.until("the session was renewed", SOON, () -> wire.counts().getOrDefault("Range", 0) >= 3);
            Map<String, Integer> sent = wire.counts();
            assertThat(sent).containsOnlyKeys("LeaseKeepAlive", "Range");
            int renewals = sent.getOrDefault("Range", 0);
            assertThat(sent.get("LeaseKeepAlive")).isBetween(renewals - 1, renewals + 1);
            assertThat(held).allMatch(Lease::isHeld);
        }
    }

    @Test
    void S10_S17_cancelledWaitersLeaveNothingInTheClientOrTheStore() throws Exception {
        try (LockClient client = namespace.client(wire);
                LockClient other = namespace.client()) {
            try (Lease held = other.named("x").acquire()) {
                for (int i = 0; i < 20; i++) {
                    CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
                    Await.until(
                            "the waiter is queued",
                            SOON,
                            () -> namespace.queue("x").size() == 2);
                    waiting.cancel(true);
                    Await.until(
                            "its key is deleted",
                            Duration.ofSeconds(4),
                            () -> namespace.queue("x").size() == 1);
                }
                assertThat(held.isHeld()).isTrue();
            }
            assertThat(namespace.keys()).isEmpty();
        }
        assertThat(namespace.raw().list(namespace.name())).isEmpty();
    }
}
