// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that locks keep working without delay while a minority of five masters is stalled or dead. */
@Tag("once")
class StalledMasterTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    /** Far below the node timeout of 500 ms, and far above the time that four responsive masters need. */
    private static final Duration QUICK = Duration.ofMillis(150);

    private static RedisTestMasters masters;

    @BeforeAll
    static void start() {
        masters = RedisTestMasters.start(5);
    }

    @AfterAll
    static void stop() {
        masters.close();
    }

    @AfterEach
    void assertNoLockKeys() {
        masters.all().forEach(RedisTestServer::resume);
        masters.all().stream().filter(server -> !server.isAlive()).forEach(RedisTestServer::restart);
        Await.until(
                "no master has a lock key",
                SOON,
                () -> masters.all().stream()
                        .allMatch(server -> keys(server).stream().allMatch(key -> key.equals("lock:%redlock"))));
    }

    private static List<?> keys(RedisTestServer server) {
        try (RawRedis redis = server.connect()) {
            return (List<?>) Objects.requireNonNull(redis.call("KEYS", "*"));
        }
    }

    private static LockClient connect() {
        LockClient client =
                Locks.connect(masters.url() + "?lease=10s&maxLease=10s&testOnlyNewMasters=true", LONG_TIMEOUTS);
        FiveMastersTest.awaitAllVote(client); // an earlier test may have restarted a master
        return client;
    }

    private static Duration median(DistributedLock lock, int cycles) throws InterruptedException {
        List<Long> nanos = new ArrayList<>();
        for (int cycle = 0; cycle < cycles; cycle++) {
            long start = System.nanoTime();
            Lease lease = lock.acquire();
            nanos.add(System.nanoTime() - start);
            assertThat(lease.release()).isNotEqualTo(ReleaseOutcome.LOST); // unknown after a pause of the machine
        }
        nanos.sort(null);
        return Duration.ofNanos(nanos.get(cycles / 2));
    }

    @Test
    void S15_stalledMasterDelaysNoClient() throws Exception {
        try (LockClient client = connect()) {
            DistributedLock lock = client.named("x");
            median(lock, 20);
            masters.get(1).pause();
            assertThat(median(lock, 100)).isLessThan(QUICK);
        }
    }

    @Test
    void S15_deadMasterDelaysNoClient() throws Exception {
        try (LockClient client = connect()) {
            DistributedLock lock = client.named("x");
            median(lock, 20);
            masters.get(2).kill();
            assertThat(median(lock, 100)).isLessThan(QUICK);
            masters.get(3).pause();
            assertThat(median(lock, 100)).as("with another master stalled").isLessThan(QUICK);
        }
    }

    @Test
    void S05_grantAtStalledMasterIsReleasedWhenItResumes() throws Exception {
        try (LockClient client = connect()) {
            FiveMastersTest.awaitAllVote(client);
            Lease lease = client.named("x").acquire();
            Await.until(
                    "the last master has voted",
                    SOON,
                    () -> keys(masters.get(4)).contains("lock:x"));
            masters.get(4).pause();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            long start = System.nanoTime();
            masters.get(4).resume();
            Await.until(
                    "the grant is deleted at the resumed master",
                    SOON,
                    () -> !keys(masters.get(4)).contains("lock:x"));
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("before the grant would expire")
                    .isLessThan(Duration.ofSeconds(8));
        }
    }

    @Test
    void S08_requestExecutedLateByStalledMasterLeavesNoKeys() throws Exception {
        try (LockClient client = connect()) {
            masters.get(0).pause();
            Lease lease = client.named("x").acquire();
            assertThat(lease.unwrap(RedlockVoteSummary.class).orElseThrow().count(RedlockVoteSummary.Vote.ACQUIRED))
                    .isBetween(3L, 4L);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            masters.get(0).resume();
            assertNoLockKeys();
        }
    }

    @Test
    void S15_noQuorumErrorNamesMissingMasters() throws Exception {
        try (LockClient client = connect()) {
            median(client.named("x"), 5);
            masters.all().subList(2, 5).forEach(RedisTestServer::pause);
            long start = System.nanoTime();
            assertThatThrownBy(() -> client.named("x").tryAcquire(Duration.ofSeconds(5)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("no quorum: 2 of 5 masters answered, these did not: ")
                    .hasMessageContaining(masters.get(2).url())
                    .hasMessageContaining(masters.get(3).url())
                    .hasMessageContaining(masters.get(4).url());
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(9));
            masters.all().forEach(RedisTestServer::resume);
            assertNoLockKeys();
            Await.until("the lock can be acquired again", SOON, () -> {
                try (Lease lease =
                        client.named("x").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
                    return lease.isHeld();
                }
            });
        }
    }
}
