// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdEntry;
import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.etcd.RawEtcd;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that locks survive the failure of one of three cluster members. */
@Tag("once")
class EtcdClusterTest {
    private static final ClientOptions SHORT_TIMEOUTS = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));
    private EtcdTestCluster cluster;

    @BeforeEach
    void start() {
        cluster = EtcdTestCluster.start();
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    private LockClient client(Duration lease) {
        return Locks.connect(cluster.url() + "?lease=" + lease.toSeconds() + "s", SHORT_TIMEOUTS);
    }

    /** A client that uses this member switches to the next one in time for a short lease. */
    @Test
    @Tag("long")
    void S07_aFrozenFollowerCausesNoLoss() throws Exception {
        Duration lease = Duration.ofSeconds(6);
        try (LockClient client = client(lease)) {
            Lease held = client.named("x").acquire();
            EtcdTestServer follower = cluster.followers().get(0);
            follower.pause();
            assertThat(Await.holdsWithin(lease.multipliedBy(2), () -> !held.isHeld()))
                    .as("lost")
                    .isFalse();
            follower.resume();
            held.close();
        }
    }

    /**
     * The old leader resumes where it stopped, and replies to keepalives alone until it learns of its successor. One client
     * knows only this member, the other all members. As long as a client considers its lease valid, the cluster has the
     * lease.
     */
    @Test
    @Tag("long")
    void S02_S07_afterALeaderIsFrozenAndResumedNoClientConsidersAnEndedLeaseValid() throws Exception {
        Duration lease = Duration.ofSeconds(4);
        EtcdTestServer old = cluster.leader();
        try (LockClient alone = Locks.connect(old.url() + "?lease=" + lease.toSeconds() + "s", SHORT_TIMEOUTS);
                LockClient all = client(lease)) {
            Lease one = alone.named("one").acquire();
            Lease two = all.named("two").acquire();
            long frozen = System.nanoTime(); // renewals sent later do not count
            old.pause();
            RawEtcd majority = cluster.awaitLeaderOtherThan(old).connect();
            assertHeldLeasesExist(majority, List.of(one, two), () -> !one.isHeld());
            assertThat(one.lost().get(5, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.EXPIRED);
            assertThat(System.nanoTime() - frozen)
                    .isLessThan(lease.multipliedBy(3).toNanos());
            old.resume();
            long until = System.nanoTime() + lease.multipliedBy(2).toNanos();
            assertHeldLeasesExist(majority, List.of(one, two), () -> System.nanoTime() - until > 0);
            assertThat(one.isHeld()).as("an ended lease stays ended").isFalse();
            Lease next = alone.named("one").tryAcquire(Duration.ofSeconds(20)).orElseThrow();
            assertThat(next.fencingToken()).isGreaterThan(one.fencingToken());
            next.close();
        }
    }

    /**
     * The leader is frozen for less than the lease duration, so the old leader still has the lease and renews it when it
     * resumes.
     */
    @Test
    @Tag("long")
    void S02_afterALeaderIsFrozenBrieflyNoClientConsidersAnEndedLeaseValid() throws Exception {
        Duration lease = Duration.ofSeconds(12);
        for (int i = 0; i < 2; i++) {
            EtcdTestServer old = cluster.leader();
            try (LockClient alone = Locks.connect(old.url() + "?lease=" + lease.toSeconds() + "s", SHORT_TIMEOUTS)) {
                Lease held = alone.named("x").acquire();
                old.pause();
                RawEtcd majority = cluster.awaitLeaderOtherThan(old).connect();
                old.resume();
                long until = System.nanoTime() + lease.plusSeconds(2).toNanos();
                assertHeldLeasesExist(majority, List.of(held), () -> System.nanoTime() - until > 0);
                held.close();
            }
            cluster.awaitServing();
        }
    }

    /**
     * Reads the store first: a key that did not exist then does not exist later either, so no client may consider its lease
     * valid afterwards.
     */
    private static void assertHeldLeasesExist(RawEtcd majority, List<Lease> leases, BooleanSupplier done) {
        Await.until("the condition holds", Duration.ofSeconds(60), () -> {
            List<Long> there;
            try {
                there = majority.list("mortise/").stream()
                        .map(EtcdEntry::createRevision)
                        .toList();
            } catch (RawEtcd.ErrorReply e) {
                return false; // on a stalled machine the two remaining members may lose their leader too
            }
            for (Lease lease : leases) {
                if (lease.isHeld()) {
                    assertThat(there).as("the key of %s", lease).contains(lease.fencingToken());
                }
            }
            return done.getAsBoolean();
        });
    }

    @Test
    void S01_S03_S08_manyClientsContinueAfterAChangeOfLeader() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger cycles = new AtomicInteger();
        AtomicLong highest = new AtomicLong();
        List<LockClient> clients = new ArrayList<>();
        List<Future<?>> workers = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                LockClient client = client(Duration.ofSeconds(10));
                clients.add(client);
                workers.add(threads.submit(() -> {
                    while (!stop.get()) {
                        client.named("x").tryAcquire(Duration.ofSeconds(20)).ifPresent(lease -> {
                            assertThat(inside.incrementAndGet()).as("inside").isEqualTo(1);
                            assertThat(highest.getAndSet(lease.fencingToken())).isLessThan(lease.fencingToken());
                            inside.decrementAndGet();
                            cycles.incrementAndGet();
                            lease.release();
                        });
                    }
                    return null;
                }));
            }
            Await.until("the clients take turns", Duration.ofSeconds(20), () -> cycles.get() > 50);
            cluster.failOver();
            int before = cycles.get();
            Await.until("the clients continue", Duration.ofSeconds(30), () -> cycles.get() > before + 50);
            stop.set(true);
            for (Future<?> worker : workers) {
                worker.get(30, TimeUnit.SECONDS);
            }
            try (LockClient after = client(Duration.ofSeconds(10))) {
                assertThat(after.named("x").tryAcquire(Duration.ofSeconds(5))).hasValueSatisfying(Lease::close);
            }
        } finally {
            stop.set(true);
            clients.forEach(LockClient::close);
            threads.shutdownNow();
        }
    }
}
