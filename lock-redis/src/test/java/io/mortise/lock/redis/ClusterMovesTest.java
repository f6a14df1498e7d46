// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisSlotMigration;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests locks whose slot moves to another master, because an operator moves it or their master fails. */
@Tag("once")
@Tag("long")
class ClusterMovesTest {
    private static final RedisKeyLayout KEYS = RedisKeyLayout.clustered(RedisOptions.DEFAULT_PREFIX);
    private static final int SLOT = KEYS.of(new LockName("x")).slot();

    private final List<Thread> workers = new ArrayList<>();
    private RedisTestCluster cluster;
    private LockClient one;
    private LockClient two;
    private volatile boolean stopped;

    @BeforeEach
    void start() {
        cluster = RedisTestCluster.start(
                RedisServerOptions.defaults().withUser("old", "on", ">secret", "~*", "&*", "+@all", "-info"));
        one = connect("");
        two = connect("");
    }

    private LockClient connect(String user) {
        return Locks.connect("redis-cluster://" + user + cluster.addresses() + "?lease=15s", RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void stop() throws InterruptedException {
        stopped = true;
        for (Thread worker : workers) {
            worker.join();
        }
        two.close();
        one.close();
        cluster.close();
    }

    /** Several threads that acquire one lock in turn; each checks that it is alone and that its token is the highest so far. */
    private final class LockingThreads {
        final String name;
        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicLong highest = new AtomicLong();
        private final AtomicLong taken = new AtomicLong();
        private final AtomicReference<@Nullable String> violation = new AtomicReference<>();

        LockingThreads(String name) {
            this.name = name;
            for (LockClient client : List.of(one, two)) {
                for (int i = 0; i < 3; i++) {
                    Thread worker = new Thread(() -> work(client), "worker-" + name);
                    workers.add(worker);
                    worker.start();
                }
            }
        }

        private void work(LockClient client) {
            while (!stopped) {
                try (Lease lease = client.named(name).acquire()) {
                    long before = highest.getAndSet(lease.fencingToken());
                    if (inside.incrementAndGet() != 1) {
                        violation.set("two at once");
                    }
                    if (before >= lease.fencingToken()) {
                        violation.set("token " + lease.fencingToken() + " after " + before);
                    }
                    if (!lease.isHeld()) {
                        violation.set("not held");
                    }
                    inside.decrementAndGet();
                    taken.incrementAndGet();
                } catch (BackendUnavailableException e) {
                    violation.set("an acquire without a time limit failed: " + e);
                } catch (InterruptedException e) {
                    violation.set("interrupted");
                }
            }
        }

        void awaitMore(String when) {
            long until = taken.get() + 20;
            Await.until(name + " is still acquired " + when, RedisTests.SOON, () -> taken.get() >= until);
            assertThat(violation.get()).isNull();
        }
    }

    @Test
    void S01_S03_aSlotMovesUnderLoad() throws InterruptedException {
        moveUnderLoad();
    }

    /** As on Redis 6: a user that may not read the server's version uses PUBLISH, which reaches the whole cluster. */
    @Test
    void S01_S03_aSlotMovesUnderLoadWithoutShardedChannels() throws InterruptedException {
        one.close();
        two.close();
        one = connect("old:secret@");
        two = connect("old:secret@");
        moveUnderLoad();
    }

    private void moveUnderLoad() throws InterruptedException {
        Lease held = one.named(another(SLOT, 1)).acquire();
        List<LockingThreads> all =
                List.of(new LockingThreads("x"), new LockingThreads(another(SLOT, 2)), new LockingThreads("elsewhere"));
        all.forEach(turns -> turns.awaitMore("at first"));
        for (int i = 0; i < 3; i++) {
            RedisTestServer from = cluster.masterOf(SLOT);
            RedisTestServer to = cluster.nodes().subList(0, 3).stream()
                    .filter(node -> node != from)
                    .findFirst()
                    .orElseThrow();
            RedisSlotMigration migration = cluster.startMigration(SLOT, to);
            all.get(2).awaitMore("while another slot moves");
            migration.moveKeys();
            migration.finish();
            all.forEach(turns -> turns.awaitMore("after the move"));
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void S01_S03_aMasterFailsUnderLoad() throws InterruptedException {
        String other = nameOnAnotherMaster();
        List<LockingThreads> all = List.of(new LockingThreads("x"), new LockingThreads(other));
        all.forEach(turns -> turns.awaitMore("at first"));
        RedisTestServer old = cluster.masterOf(SLOT);
        awaitReplicated(old);
        old.pause(); // so that it stops between two requests, not while it executes one
        long stoppedAt = System.nanoTime();
        old.kill();
        all.get(1).awaitMore("while another master is down");
        cluster.awaitMasterOtherThan(old, SLOT);
        all.get(0).awaitMore("at the new master");
        assertThat(System.nanoTime() - stoppedAt).isLessThan(TimeUnit.SECONDS.toNanos(20));
        old.restart();
        all.forEach(turns -> turns.awaitMore("with the old one back"));
    }

    @Test
    void S01_aReplicatedGrantIsKeptAndWaitersContinue() throws Exception {
        Lease held = one.named("x").acquire();
        CompletableFuture<Lease> second = two.named("x").acquireAsync();
        RedisTestServer old = cluster.masterOf(SLOT);
        try (RawRedis redis = old.connect()) {
            Await.until(
                    "it is queued",
                    RedisTests.SOON,
                    () -> Long.valueOf(1)
                            .equals(redis.call(
                                    "ZCARD", KEYS.of(new LockName("x")).queue())));
        }
        awaitReplicated(old);
        cluster.failOver(SLOT);
        assertThat(held.isHeld()).isTrue();
        assertThat(second).isNotDone();
        assertThat(held.releaseAsync().get(20, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        try (Lease next = second.get(20, TimeUnit.SECONDS)) {
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        }
    }

    /** The loss is detected at once, although the next renewal is due minutes later. */
    @Test
    void S07_aGrantThatAFailoverLostIsLostAtOnce() throws Exception {
        LockOptions longLease = LockOptions.defaults().leaseDuration(Duration.ofMinutes(15));
        Lease lease = one.named("x", longLease).acquire();
        try (RawRedis master = cluster.masterOf(SLOT).connect()) {
            master.call("DEL", KEYS.of(new LockName("x")).grant());
        }
        cluster.failOver(SLOT);
        LossReason why = lease.lost().get(60, TimeUnit.SECONDS);
        assertThat(why.kind()).isEqualTo(LossReason.Kind.REMOVED);
    }

    /** The client is idle, so that only its view of the topology tells it of the new master. */
    @Test
    void S08_aReleaseThatNoReplicaHadIsRepeatedAtAMasterThatNobodyUses() throws Exception {
        RedisTestServer old = cluster.masterOf(SLOT);
        releaseAtThatMasterOnly(old, "x");
        cluster.failOver(SLOT);
        awaitFree("x");
    }

    /** The client's connection to the first master stays the same. */
    @Test
    void S08_aReleaseIsRepeatedAtAFormerMasterThatIsTheMasterAgain() throws Exception {
        RedisTestServer first = cluster.masterOf(SLOT);
        RedisTestServer second = cluster.nodes().get(cluster.nodes().indexOf(first) + 3);
        String other = another(SLOT, 1);
        one.named(other).acquire().release();
        takeOver(second, first);
        one.named(other).acquire().release();
        releaseAtThatMasterOnly(second, "x");
        takeOver(first, second);
        one.named(other).acquire().release(); // learns of the move
        awaitFree("x");
    }

    /** Releases a lock, and then sets its grant again, as if the release had been lost in a failover. */
    private void releaseAtThatMasterOnly(RedisTestServer master, String name) throws InterruptedException {
        String key = KEYS.of(new LockName(name)).grant();
        LockOptions longLease = LockOptions.defaults().leaseDuration(Duration.ofMinutes(15));
        try (RawRedis redis = master.connect()) {
            Lease lease = one.named(name, longLease).acquire();
            String grant = String.valueOf(redis.call("GET", key));
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            redis.call("SET", key, grant, "PX", "900000");
        }
        awaitReplicated(master);
    }

    private void takeOver(RedisTestServer replica, RedisTestServer master) {
        try (RawRedis redis = replica.connect()) {
            assertThat(redis.call("CLUSTER", "FAILOVER", "TAKEOVER")).isEqualTo("OK");
        }
        cluster.awaitMasterOtherThan(master, SLOT);
        assertThat(cluster.masterOf(SLOT))
                .as("also in the view of the former master")
                .isSameAs(replica);
    }

    private void awaitFree(String name) {
        String key = KEYS.of(new LockName(name)).grant();
        Await.until(name + " is free at the new master", RedisTests.SOON, () -> {
            try (RawRedis redis = cluster.masterOf(SLOT).connect()) {
                return Long.valueOf(0).equals(redis.call("EXISTS", key));
            }
        });
    }

    private static void awaitReplicated(RedisTestServer master) {
        try (RawRedis redis = master.connect()) {
            redis.call("SET", "{" + KEYS.of(new LockName("x")).grant().replaceAll(".*\\{|}.*", "") + "}mark", "1");
            assertThat(redis.call("WAIT", "1", "10000")).isEqualTo(1L);
        }
    }

    /** Returns the n-th lock name in that slot. */
    private static String another(int slot, int number) {
        int found = 0;
        for (int i = 0; ; i++) {
            if (KEYS.of(new LockName("n" + i)).slot() == slot && ++found == number) {
                return "n" + i;
            }
        }
    }

    private String nameOnAnotherMaster() {
        for (int i = 0; ; i++) {
            int slot = KEYS.of(new LockName("n" + i)).slot();
            if (cluster.masterOf(slot) != cluster.masterOf(SLOT)) {
                return "n" + i;
            }
        }
    }
}
