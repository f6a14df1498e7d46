// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisSentinelTestDeployment;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests failovers by real sentinels: replicated grants stay valid, and lost ones are reported. */
@Tag("once")
class RedisSentinelTest {
    private RedisSentinelTestDeployment redis;
    private LockClient holders;
    private LockClient waiters;

    @BeforeEach
    void start() {
        redis = RedisSentinelTestDeployment.start(RedisServerOptions.defaults().withPassword("secret"), 1, 1);
        holders = connect();
        waiters = connect();
    }

    @AfterEach
    void stop() {
        waiters.close();
        holders.close();
        redis.close();
    }

    private LockClient connect() {
        return Locks.connect(
                "redis-sentinel://:secret@" + redis.addresses() + "?lease=15s&master="
                        + RedisSentinelTestDeployment.MASTER_NAME,
                RedisTests.LONG_TIMEOUTS);
    }

    @Test
    void S01_S03_waitersContinueAtTheNewMasterAndAReplicatedGrantIsKept() throws Exception {
        Lease kept = holders.named("x").acquire();
        List<Long> tokens = new CopyOnWriteArrayList<>(List.of(kept.fencingToken()));
        DistributedLock lock = waiters.named("x");
        CompletableFuture<Lease> second = lock.acquireAsync();
        awaitWaiters(1);
        CompletableFuture<Lease> third = lock.acquireAsync();
        awaitWaiters(2);
        awaitReplicated();
        redis.failOver();
        assertThat(kept.isHeld()).isTrue();
        assertThat(second).isNotDone();
        // A release waits for the new master if necessary.
        assertThat(kept.releaseAsync().get(20, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        // In any order: a waiter that was not connected when it became the first lost its queue entry.
        CompletableFuture.allOf(
                        second.thenAccept(lease -> take(lease, tokens)), third.thenAccept(lease -> take(lease, tokens)))
                .get(20, TimeUnit.SECONDS);
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(holders.named("y").tryAcquire()).isPresent();
    }

    @Test
    void S07_theLossOfAGrantThatNoReplicaHadIsReported() throws Exception {
        RedisTestServer old = redis.master();
        RedisTestServer replica =
                redis.nodes().stream().filter(node -> node != old).findFirst().orElseThrow();
        long before =
                holders.named("x").tryAcquire().map(RedisSentinelTest::released).orElseThrow();
        cutOff(old, replica);
        Lease lost = holders.named("x").acquire();
        old.kill();
        redis.awaitMasterOtherThan(old);
        Lease another = waiters.named("x").acquire();
        LossReason reason = lost.lost().get(20, TimeUnit.SECONDS);
        assertThat(reason.kind()).isEqualTo(LossReason.Kind.REMOVED);
        assertThat(another.fencingToken()).as("the counter was lost too").isGreaterThan(lost.fencingToken());
        assertThat(lost.fencingToken()).isGreaterThan(before);
        assertThat(another.isHeld()).isTrue();
    }

    @Test
    void S08_aReleaseThatNoReplicaHadIsRepeatedAtTheNewMaster() throws Exception {
        RedisTestServer old = redis.master();
        RedisTestServer replica =
                redis.nodes().stream().filter(node -> node != old).findFirst().orElseThrow();
        LockOptions tenMinutes = LockOptions.defaults().leaseDuration(Duration.ofMinutes(10));
        Lease lease = holders.named("x", tenMinutes).acquire();
        awaitReplicated();
        cutOff(old, replica);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        old.kill();
        redis.awaitMasterOtherThan(old);
        assertThat(waiters.named("x").tryAcquire(Duration.ofSeconds(60))).isPresent();
    }

    /** The old master still acts as the master until a sentinel reconfigures it. */
    @Test
    void S01_aMasterThatWasFrozenDuringAFailoverGrantsNothingWithWaitReplicas() throws Exception {
        ClientOptions soon = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));
        RedisTestServer old = redis.master();
        String sentinels = "redis-sentinel://:secret@" + redis.addresses() + "?master=mymaster";
        try (LockClient stale = Locks.connect("redis://:secret@127.0.0.1:" + old.port() + "?waitReplicas=1", soon);
                LockClient others = Locks.connect(sentinels, soon)) {
            stale.named("y").acquire().release();
            old.pause();
            redis.awaitMasterOtherThan(old);
            Lease held = others.named("x").acquire();
            old.resume();
            assertThat(tried(stale)).as("a second grant").isEmpty();
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void S15_S19_connectErrorsAreNamedWithoutSecrets() {
        String sentinels = redis.addresses();
        assertThatThrownBy(() -> Locks.connect("redis-sentinel://:wr0ng@" + sentinels + "?master=mymaster"))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("WRONGPASS")
                .hasMessageNotContaining("wr0ng");
        ClientOptions soon = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5));
        assertThatThrownBy(() -> Locks.connect("redis-sentinel://:secret@" + sentinels + "?master=other", soon))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContainingAll(sentinels, " knows no master \"other\", but [mymaster]: check the name");
        redis.killSentinel(0);
        assertThatThrownBy(() -> Locks.connect("redis-sentinel://:secret@" + sentinels + "?master=mymaster", soon))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(sentinels);
    }

    /** The server may be a replica by now that already knows of the holder, and reply "busy". */
    private static Optional<Lease> tried(LockClient client) throws InterruptedException {
        try {
            return client.named("x").tryAcquire();
        } catch (BackendUnavailableException e) {
            return Optional.empty();
        }
    }

    private static void take(Lease lease, List<Long> tokens) {
        try (lease) {
            tokens.add(lease.fencingToken());
        }
    }

    private static long released(Lease lease) {
        try (lease) {
            return lease.fencingToken();
        }
    }

    /** Disconnects the replica from its master for good: the password with which it connects again is wrong. */
    private static void cutOff(RedisTestServer master, RedisTestServer replica) {
        try (RawRedis there = replica.connect();
                RawRedis here = master.connect()) {
            there.call("CONFIG", "SET", "masterauth", "wrong");
            there.call("CLIENT", "KILL", "TYPE", "master");
            Await.until(
                    "the replica is cut off",
                    RedisTests.SOON,
                    () -> "0".equals(here.info("replication").get("connected_slaves")));
        }
    }

    private void awaitWaiters(long count) {
        try (RawRedis master = redis.master().connect()) {
            Await.until(count + " in the queue", RedisTests.SOON, () -> RedisTests.waiters(master, "x") == count);
        }
    }

    private void awaitReplicated() {
        try (RawRedis master = redis.master().connect()) {
            master.call("SET", "mark", "1");
            assertThat(master.call("WAIT", "1", "5000")).isEqualTo(1L);
            String key = new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX)
                    .of(new LockName("x"))
                    .grant();
            assertThat(Objects.requireNonNull(master.call("EXISTS", key))).isEqualTo(1L);
        }
    }
}
