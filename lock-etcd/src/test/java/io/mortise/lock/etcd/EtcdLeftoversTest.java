// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.etcd.RawEtcd;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that failures leave nothing behind in the client or in the store, and cost no other holder its lease. Rule S17.
 */
class EtcdLeftoversTest extends OneServerTest {
    @Test
    void S17_aDeletedKeyLeavesNoWatch() throws Exception {
        try (LockClient client = namespace.client(wire)) {
            Await.until("the session is watched", SOON, () -> wire.watching() == 1);
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                held.add(client.named("x" + i).acquire());
            }
            Await.until("all are watched", SOON, () -> wire.watching() == 21);
            LockAdmin admin = client.admin().orElseThrow();
            for (int i = 0; i < 20; i++) {
                String name = "x" + i;
                admin.forceRelease(
                                name,
                                admin.status(name)
                                        .toCompletableFuture()
                                        .get(5, TimeUnit.SECONDS)
                                        .holders()
                                        .get(0))
                        .get(5, TimeUnit.SECONDS);
            }
            Await.until("all are lost", SOON, () -> held.stream().noneMatch(Lease::isHeld));
            Await.until("the watches have ended", SOON, () -> wire.watching() == 1);
            assertThat(namespace.keys()).isEmpty();
        }
    }

    /** The store refuses each withdrawal that writes; a request that etcd itself refused needs no such withdrawal. */
    @Test
    @Tag("once")
    void S08_aFullStoreCostsNoHolderItsLease() throws Exception {
        Duration lease = Duration.ofSeconds(8);
        try (EtcdTestServer small = EtcdTestServer.start(
                        EtcdServerOptions.defaults().withArguments("--quota-backend-bytes", "2097152"));
                LockClient client =
                        EtcdLocks.connect(OneNamespace.on(small).options().leaseDuration(lease))) {
            Lease held = client.named("a").acquire();
            fill(small.connect());
            long full = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> client.named("b").tryAcquire())
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining("space");
            }
            Await.until(
                    "two lease durations have passed, or the lease is lost",
                    Duration.ofSeconds(30),
                    () -> !held.isHeld()
                            || System.nanoTime() - full > lease.multipliedBy(2).toNanos());
            assertThat(held.isHeld()).isTrue();
            held.close();
        }
    }

    private static void fill(RawEtcd etcd) {
        String much = "x".repeat(200_000);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        etcd.put("much" + i, much);
                    }
                })
                .isInstanceOf(RawEtcd.ErrorReply.class)
                .hasMessageContaining("space");
    }

    /** A replaced leader may reply like this. */
    @Test
    void S02_aKeepaliveThatFindsNoLeaseIsChecked() throws Exception {
        Duration lease = Duration.ofSeconds(8);
        EtcdOptions quick = namespace.options().leaseDuration(lease).interceptors(List.of(wire));
        try (LockClient client = EtcdLocks.connect(quick)) {
            Lease held = client.named("x").acquire();
            wire.reset();
            wire.replyToNext(
                    "LeaseKeepAlive", Status.NOT_FOUND.withDescription("etcdserver: requested lease not found"));
            Await.until(
                    "the lease was renewed, or is lost",
                    SOON,
                    () -> !held.isHeld()
                            || (wire.counts().getOrDefault("LeaseKeepAlive", 0) >= 2
                                    && held.remaining().compareTo(Duration.ofSeconds(7)) > 0));
            assertThat(held.isHeld()).isTrue();
            assertThat(namespace.sessions()).hasSize(1);
            held.close();
        }
    }

    /** Otherwise the leader may have been replaced between the read and the keepalive, and the term would not show it. */
    @Test
    void S02_theReadThatConfirmsAKeepaliveIsSentAfterItsReply() throws Exception {
        EtcdOptions quick =
                namespace.options().leaseDuration(Duration.ofSeconds(8)).interceptors(List.of(wire));
        try (LockClient client = EtcdLocks.connect(quick)) {
            Await.until("the session is watched", SOON, wire::sessionIsWatched);
            CompletableFuture<Integer> reads = new CompletableFuture<>();
            wire.before(
                    "LeaseKeepAlive",
                    wire::reset,
                    () -> reads.complete(wire.counts().getOrDefault("Range", 0)));
            wire.replyToNext("LeaseKeepAlive", Status.DEADLINE_EXCEEDED.withDescription("by the test"));
            assertThat(reads.get(20, TimeUnit.SECONDS)).isZero();
        }
    }

    /** The watch's events are of no use before that read. */
    @Test
    void S11_aFailedReadOfTheQueueIsRepeated() throws Exception {
        try (LockClient client = namespace.client(wire);
                LockClient holder = namespace.client()) {
            Await.until("the session is watched", SOON, wire::sessionIsWatched);
            Lease held = holder.named("x").acquire();
            wire.reset();
            wire.replyToNext("Range", Status.DEADLINE_EXCEEDED.withDescription("by the test"));
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            Await.until("there was another read", SOON, () -> wire.counts().getOrDefault("Range", 0) > 1);
            held.close();
            waiting.get(20, TimeUnit.SECONDS).close();
        }
    }
}
