// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.Locks;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.RedisTestMasters;
import io.mortise.lock.testkit.servers.RedisTestServer;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three masters, which forget all they know when they are restarted. */
@Tag("once")
class QuarantineTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final ClientOptions PATIENT = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    private RedisTestMasters masters;

    @BeforeEach
    void start() {
        masters = RedisTestMasters.start(3);
    }

    @AfterEach
    void stop() {
        masters.close();
    }

    private LockClient connect() {
        return Locks.connect(masters.url() + "?lease=" + LEASE.toSeconds() + "s", PATIENT);
    }

    private static void restartEmpty(RedisTestServer master) {
        master.kill();
        master.restart();
    }

    private static Optional<String> admitted(RedisTestServer master) {
        try (BareRedis redis = master.connect()) {
            return Optional.ofNullable((String) redis.call("HGET", "lock:%redlock", "run"));
        }
    }

    private static boolean has(RedisTestServer master, String key) {
        try (BareRedis redis = master.connect()) {
            return Long.valueOf(1).equals(redis.call("EXISTS", key));
        }
    }

    private static void awaitVotes(RedisTestServer master) {
        Await.until("it votes again", SOON, () -> admitted(master).isPresent());
    }

    /** The holder has two votes of three; one of those masters forgets its vote, and the third comes back. */
    @Test
    void S01_aMasterThatForgotItsVoteDoesNotGiveItAway() throws Exception {
        try (LockClient one = connect();
                LockClient other = connect()) {
            masters.all().forEach(QuarantineTest::awaitVotes);
            masters.get(0).pause();
            Lease lease = one.named("x").acquire();
            RedlockSummary summary = lease.unwrap(RedlockSummary.class).orElseThrow();
            Await.until(
                    "the first has failed",
                    SOON,
                    () -> lease.unwrap(RedlockSummary.class).orElseThrow().count(RedlockSummary.Vote.FAILED) == 1);
            assertThat(summary.count(RedlockSummary.Vote.ACQUIRED)).isEqualTo(2);
            restartEmpty(masters.get(2));
            masters.get(0).resume();

            Optional<Lease> second = Optional.empty();
            while (second.isEmpty()) {
                try {
                    second = other.named("x").tryAcquire(Duration.ofMillis(300));
                } catch (BackendUnavailableException e) {
                    // no quorum, or no answer in so short a time
                }
                assertThat(second.isPresent() && lease.isHeld()).as("two hold").isFalse();
            }
            assertThat(second.get().fencingToken()).isGreaterThan(lease.fencingToken());
        }
    }

    /** The master that forgets it was one of the two that had noted it. */
    @Test
    void S01_aLeaseThatIsLongerThanTheOthersExpectIsWaitedFor() throws Exception {
        try (LockClient one = connect();
                LockClient other = connect()) {
            masters.all().forEach(QuarantineTest::awaitVotes); // else one of them waits for that lease as well
            masters.get(2).pause();
            DistributedLock lock = one.named("x", LockOptions.defaults().leaseDuration(LEASE.multipliedBy(4)));
            Lease lease = lock.acquire();
            Await.until(
                    "the third has failed",
                    SOON,
                    () -> lease.unwrap(RedlockSummary.class).orElseThrow().count(RedlockSummary.Vote.FAILED) == 1);
            restartEmpty(masters.get(0));
            masters.get(2).resume();
            long until = System.nanoTime() + LEASE.multipliedBy(2).toNanos();
            while (System.nanoTime() - until < 0) {
                boolean second;
                try {
                    second = other.named("x").tryAcquire(Duration.ofMillis(300)).isPresent();
                } catch (BackendUnavailableException e) {
                    second = false;
                }
                assertThat(second && lease.isHeld()).as("two hold").isFalse();
            }
            assertThat(admitted(masters.get(0))).isEmpty();
        }
    }

    @Test
    void S03_tokensRiseThoughAllMastersForgetOneAfterTheOther() throws Exception {
        try (LockClient client = connect()) {
            long last = 0;
            for (RedisTestServer master : masters.all()) {
                try (Lease lease = client.named("x").acquire()) {
                    assertThat(lease.fencingToken()).isGreaterThan(last);
                    last = lease.fencingToken();
                }
                restartEmpty(master);
                try (Lease lease = client.named("x").acquire()) { // by the two others
                    assertThat(lease.fencingToken()).isGreaterThan(last);
                    last = lease.fencingToken();
                }
                awaitVotes(master);
            }
            try (Lease lease = client.named("x").acquire()) {
                assertThat(lease.fencingToken()).isGreaterThan(last);
            }
        }
    }

    @Test
    void S03_tokensRiseThoughAllMastersForgetAtOnce() throws Exception {
        long last;
        try (LockClient client = connect()) {
            Lease lease = client.named("x").acquire();
            last = lease.fencingToken();
            masters.all().forEach(QuarantineTest::restartEmpty);
            Lease next = client.named("x").tryAcquire(Duration.ofSeconds(40)).orElseThrow();
            assertThat(lease.isHeld()).isFalse();
            assertThat(next.fencingToken()).isGreaterThan(last);
        }
    }

    @Test
    void S01_whoseDataWasDeletedVotesAgainAfterTheLongestLease() throws Exception {
        try (LockClient client = connect()) {
            client.named("x").acquire().close();
            try (BareRedis redis = masters.get(1).connect()) {
                redis.call("FLUSHALL");
            }
            long start = System.nanoTime();
            try (Lease lease = client.named("x").acquire()) { // which is how it comes to light
                assertThat(lease.isHeld()).isTrue();
                assertThat(has(masters.get(1), "lock:x")).isFalse();
            }
            awaitVotes(masters.get(1));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(LEASE.minusMillis(100));
            Await.until("it has a vote", SOON, () -> {
                try (Lease lease =
                        client.named("x").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
                    Await.until(
                            "or not",
                            SOON,
                            () -> lease.unwrap(RedlockSummary.class)
                                            .orElseThrow()
                                            .count(RedlockSummary.Vote.PENDING)
                                    == 0);
                    return has(masters.get(1), "lock:x");
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    @Test
    void S15_serversThatWereJustStartedAreNamedWithTheirTime() {
        assertThatThrownBy(() -> Locks.connect(
                        masters.url() + "?lease=10m", ClientOptions.defaults().connectTimeout(Duration.ofSeconds(3))))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no quorum at " + masters.url())
                .hasMessageMatching("(?s).*votes in \\d{6} ms.*");
    }
}
