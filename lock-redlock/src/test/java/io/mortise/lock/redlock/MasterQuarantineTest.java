// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three masters, which forget all they know when they are restarted. */
@Tag("once")
class MasterQuarantineTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

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
        return connect("lease=4s&maxLease=4s&testOnlyNewMasters=true");
    }

    private LockClient connect(String parameters) {
        return Locks.connect(masters.url() + "?" + parameters, LONG_TIMEOUTS);
    }

    private static void restartEmpty(RedisTestServer master) {
        master.kill();
        master.restart();
    }

    private static Optional<String> votingRun(RedisTestServer master) {
        try (RawRedis redis = master.connect()) {
            return Optional.ofNullable((String) redis.call("HGET", "lock:%redlock", "run"));
        }
    }

    private static boolean has(RedisTestServer master, String key) {
        try (RawRedis redis = master.connect()) {
            return Long.valueOf(1).equals(redis.call("EXISTS", key));
        }
    }

    private static void awaitVotes(RedisTestServer master) {
        Await.until("it votes again", SOON, () -> votingRun(master).isPresent());
    }

    /** The holder has two votes of three; one of those masters forgets its vote, and the third comes back. */
    @Test
    void S01_masterThatForgotItsVoteDoesNotVoteAgain() throws Exception {
        try (LockClient one = connect();
                LockClient other = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            masters.get(0).pause();
            Lease lease = one.named("x").acquire();
            RedlockVoteSummary summary = lease.unwrap(RedlockVoteSummary.class).orElseThrow();
            Await.until(
                    "the first has failed",
                    SOON,
                    () -> lease.unwrap(RedlockVoteSummary.class).orElseThrow().count(RedlockVoteSummary.Vote.FAILED)
                            == 1);
            assertThat(summary.count(RedlockVoteSummary.Vote.ACQUIRED)).isEqualTo(2);
            restartEmpty(masters.get(2));
            masters.get(0).resume();

            Lease second = takesOnlyWhatIsNotHeld(other, lease);
            assertThat(second.fencingToken()).isGreaterThan(lease.fencingToken());
        }
    }

    /** A second client gets no lock while the first believes that it holds it. */
    private static Lease takesOnlyWhatIsNotHeld(LockClient other, Lease held) throws InterruptedException {
        while (true) {
            Optional<Lease> second = Optional.empty();
            try {
                second = other.named("x").tryAcquire(Duration.ofMillis(300));
            } catch (BackendUnavailableException e) {
                // no quorum, or no answer in so short a time
            }
            assertThat(second.isPresent() && held.isHeld()).as("two hold").isFalse();
            if (second.isPresent()) {
                return second.get();
            }
        }
    }

    /** However long they have run: as new ones they would be ready at once. */
    @Test
    void S01_noSecondHolderAfterDataOfAllMastersWasDeleted() throws Exception {
        try (LockClient one = connect();
                LockClient other = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            // It is held in vain for longer than a quarantine from the start of the masters could last.
            Await.until("they run for longer than a lease", SOON, () -> uptime(masters.get(0)) > LEASE.toSeconds() + 1);
            Lease lease = one.named("x").acquire();
            masters.each(redis -> redis.call("FLUSHALL"));
            Lease next = takesOnlyWhatIsNotHeld(other, lease);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
        }
    }

    private static long uptime(RedisTestServer master) {
        try (RawRedis redis = master.connect()) {
            return Long.parseLong(Objects.requireNonNull(redis.info("server").get("uptime_in_seconds")));
        }
    }

    /** No master and no other client knows its lease, but all agree on the longest lease. */
    @Test
    void S01_longLeaseOfDisconnectedClientIsAwaitedAfterAllMastersForgot() throws Exception {
        Duration longLease = LEASE.multipliedBy(3);
        String parameters = "lease=2s&maxLease=12s&testOnlyNewMasters=true";
        List<TcpProxy> lines = masters.ports().stream()
                .map(port -> TcpProxy.to("127.0.0.1", port))
                .toList();
        String cut = lines.stream().map(line -> "127.0.0.1:" + line.port()).collect(Collectors.joining(","));
        try (LockClient present = connect(parameters);
                LockClient absent = Locks.connect("redlock://" + cut + "?" + parameters, LONG_TIMEOUTS)) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            Lease lease = absent.named("x", LockOptions.defaults().leaseDuration(longLease))
                    .acquire();
            lines.forEach(TcpProxy::close);
            masters.all().forEach(MasterQuarantineTest::restartEmpty);
            Lease next = takesOnlyWhatIsNotHeld(present, lease);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
        } finally {
            lines.forEach(TcpProxy::close);
        }
    }

    @Test
    void S14_clientWithDifferentMaxLeaseIsRejected() throws Exception {
        try (LockClient client = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            assertThatThrownBy(() -> connect("lease=4s&maxLease=1h"))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContainingAll("maxLease is PT1H", "PT4S", "HSET lock:%redlock maxLease 3600000")
                    .hasMessageNotContaining("wait for");
            assertThatThrownBy(() -> client.named("x", LockOptions.defaults().leaseDuration(LEASE.plusMillis(1))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("PT4.001S", "at most PT4S", "maxLease");
            client.named("x").acquire().close();
        }
    }

    /** Follows the steps for operators in docs/semantics.md. */
    @Test
    void S14_maxLeaseCanBeChangedAtTheMasters() throws Exception {
        long token;
        try (LockClient client = connect();
                Lease lease = client.named("x").acquire()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            token = lease.fencingToken();
        }
        masters.each(redis -> redis.call("HSET", "lock:%redlock", "maxLease", "60000"));
        try (LockClient client = connect("lease=1m&maxLease=1m");
                Lease lease = client.named("x").acquire()) {
            assertThat(lease.fencingToken()).isGreaterThan(token);
        }
    }

    @Test
    void S03_tokensIncreaseWhenMastersForgetOneByOne() throws Exception {
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
    void S03_tokensIncreaseWhenAllMastersForgetAtOnce() throws Exception {
        long last;
        try (LockClient client = connect()) {
            Lease lease = client.named("x").acquire();
            last = lease.fencingToken();
            masters.all().forEach(MasterQuarantineTest::restartEmpty);
            Lease next = client.named("x").tryAcquire(Duration.ofSeconds(40)).orElseThrow();
            assertThat(lease.isHeld()).isFalse();
            assertThat(next.fencingToken()).isGreaterThan(last);
        }
    }

    @Test
    void S01_masterVotesAgainAfterMaxLeaseWhenItsDataWasDeleted() throws Exception {
        try (LockClient client = connect()) {
            client.named("x").acquire().close();
            try (RawRedis redis = masters.get(1).connect()) {
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
                            () -> lease.unwrap(RedlockVoteSummary.class)
                                            .orElseThrow()
                                            .count(RedlockVoteSummary.Vote.PENDING)
                                    == 0);
                    return has(masters.get(1), "lock:x");
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    /** Longer than the connect timeout, since they have nothing else in the way. */
    @Test
    void S15_clientWaitsForNewMasters() throws Exception {
        connect().close(); // what a client is made of takes seconds to load on a busy machine
        ClientOptions impatient = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5));
        masters.get(2).kill();
        long start = System.nanoTime();
        try (LockClient client = Locks.connect(masters.url() + "?prefix=new:&lease=4s&maxLease=8s", impatient);
                Lease lease = client.named("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(8));
    }

    @Test
    void S15_clientStopsWaitingIfTimeAloneCannotHelp() {
        connect().close(); // what a client is made of takes seconds to load on a busy machine
        ClientOptions impatient = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5));
        masters.get(1).kill();
        masters.get(2).kill();
        assertThatThrownBy(() -> Locks.connect(masters.url() + "?prefix=new:&lease=10m&maxLease=10m", impatient))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no quorum at " + masters.url())
                .hasMessageMatching("(?s).*in quarantine for \\d{6} ms.*");
    }

    /** Masters are not new if one of them has data or a client has seen them vote. */
    @Test
    void S01_mastersInUseAreNotNewInTestsEither() throws Exception {
        try (LockClient one = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            Lease lease = one.named("x").acquire();
            long start = System.nanoTime();
            masters.each(redis -> redis.call("FLUSHALL"));
            Await.until(
                    "they have heard of it from who knows",
                    SOON,
                    () -> masters.all().stream().allMatch(master -> knowsMaxLease(master, "4000")));
            try (LockClient other = connect()) {
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(LEASE);
                assertThat(lease.isHeld()).as("two could hold").isFalse();
                assertThat(other.named("x").tryAcquire(SOON)).isPresent();
            }
        }
    }

    /** Else the first newcomer with a wrong value would decide for how long they are waited for. */
    @Test
    void S01_clientsRestoreMaxLeaseAtMastersThatForgotIt() throws Exception {
        try (LockClient client = connect("lease=4s&maxLease=10m&testOnlyNewMasters=true")) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            client.named("x").acquire(); // its renewals find what has happened
            masters.each(redis -> redis.call("FLUSHALL"));
            Await.until(
                    "they have heard of it, long before they vote",
                    SOON,
                    () -> masters.all().stream().allMatch(master -> knowsMaxLease(master, "600000")));
            assertThatThrownBy(this::connect)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContainingAll("maxLease is PT4S", "PT10M", "wait for PT10M");
        }
    }

    /** It may be wrong, and would shut out all others. */
    @Test
    void S01_clientWithoutAMajorityStoresNoMaxLease() throws Exception {
        Thread newcomer = new Thread(() -> {
            try {
                connect("lease=4s&maxLease=1h").close();
            } catch (BackendUnavailableException e) {
                Thread.currentThread().interrupt(); // as below
            }
        });
        newcomer.start();
        try {
            Await.until(
                    "it has seen all",
                    SOON,
                    () -> masters.all().stream().allMatch(master -> state(master, "since") != null));
            assertThat(masters.all()).allMatch(master -> state(master, "maxLease") == null);
        } finally {
            newcomer.interrupt();
            newcomer.join();
        }
        connect().close();
    }

    private static @Nullable Object state(RedisTestServer master, String field) {
        try (RawRedis redis = master.connect()) {
            return redis.call("HGET", "lock:%redlock", field);
        }
    }

    private static boolean knowsMaxLease(RedisTestServer master, String millis) {
        return millis.equals(state(master, "maxLease"));
    }
}
