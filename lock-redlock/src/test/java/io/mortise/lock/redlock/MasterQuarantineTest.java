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
import io.mortise.lock.redlock.storage.RedlockScript;
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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests that a master that lost its data does not vote until every lease that it forgot has ended. */
@Tag("once")
@Execution(ExecutionMode.CONCURRENT) // each on servers of its own
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
        Await.until("the master votes again", SOON, () -> votingRun(master).isPresent());
    }

    /** The holder has two of three votes. Then one of these masters loses its vote, and the third master resumes. */
    @Test
    void S01_masterThatForgotItsVoteDoesNotVoteAgain() throws Exception {
        try (LockClient one = connect();
                LockClient other = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            masters.get(0).pause();
            Lease lease = one.named("x").acquire();
            RedlockVoteSummary summary = lease.unwrap(RedlockVoteSummary.class).orElseThrow();
            Await.until(
                    "the vote of the first master has failed",
                    SOON,
                    () -> lease.unwrap(RedlockVoteSummary.class).orElseThrow().count(RedlockVoteSummary.Vote.FAILED)
                            == 1);
            assertThat(summary.count(RedlockVoteSummary.Vote.ACQUIRED)).isEqualTo(2);
            restartEmpty(masters.get(2));
            masters.get(0).resume();

            Lease second = acquireOnceNotHeld(other, lease);
            assertThat(second.fencingToken()).isGreaterThan(lease.fencingToken());
        }
    }

    /** Acquires the lock with a second client, and checks that this fails while the first client considers its lease valid. */
    private static Lease acquireOnceNotHeld(LockClient other, Lease held) throws InterruptedException {
        while (true) {
            Optional<Lease> second = Optional.empty();
            try {
                second = other.named("x").tryAcquire(Duration.ofMillis(300));
            } catch (BackendUnavailableException e) {
                // no quorum, or no reply in the short wait
            }
            assertThat(second.isPresent() && held.isHeld())
                    .as("two holders at once")
                    .isFalse();
            if (second.isPresent()) {
                return second.get();
            }
        }
    }

    /** A long uptime does not matter: masters that were treated as new would vote at once. */
    @Test
    void S01_noSecondHolderAfterDataOfAllMastersWasDeleted() throws Exception {
        try (LockClient one = connect();
                LockClient other = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            // A quarantine that started with the process would have ended by now.
            Await.until(
                    "the masters have run for longer than a lease",
                    SOON,
                    () -> uptime(masters.get(0)) > LEASE.toSeconds() + 1);
            Lease lease = one.named("x").acquire();
            masters.each(redis -> redis.call("FLUSHALL"));
            Lease next = acquireOnceNotHeld(other, lease);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
        }
    }

    private static long uptime(RedisTestServer master) {
        try (RawRedis redis = master.connect()) {
            return Long.parseLong(Objects.requireNonNull(redis.info("server").get("uptime_in_seconds")));
        }
    }

    /** No master and no connected client knows the lease, but all agree on the longest lease. */
    @Test
    void S01_longLeaseOfDisconnectedClientIsAwaitedAfterAllMastersLostData() throws Exception {
        Duration longLease = LEASE.multipliedBy(3);
        String parameters = "lease=2s&maxLease=12s&testOnlyNewMasters=true";
        List<TcpProxy> proxies = masters.ports().stream()
                .map(port -> TcpProxy.to("127.0.0.1", port))
                .toList();
        String proxyAddresses =
                proxies.stream().map(proxy -> "127.0.0.1:" + proxy.port()).collect(Collectors.joining(","));
        try (LockClient connected = connect(parameters);
                LockClient disconnected =
                        Locks.connect("redlock://" + proxyAddresses + "?" + parameters, LONG_TIMEOUTS)) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            Lease lease = disconnected
                    .named("x", LockOptions.defaults().leaseDuration(longLease))
                    .acquire();
            proxies.forEach(TcpProxy::close);
            masters.all().forEach(MasterQuarantineTest::restartEmpty);
            Lease next = acquireOnceNotHeld(connected, lease);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
        } finally {
            proxies.forEach(TcpProxy::close);
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
                try (Lease lease = client.named("x").acquire()) { // with the votes of the two other masters
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

    private static Object counters(RedisTestServer master) {
        try (RawRedis redis = master.connect()) {
            return String.valueOf(redis.call("HMGET", "lock:%redlock", "00", "63"));
        }
    }

    /** The client has no lease and waits for none, so it sends the silent master no other requests. */
    @Test
    void S03_silentMasterDoesNotKeepAnotherOneInQuarantine() {
        masters.close();
        masters = RedisTestMasters.start(5);
        try (LockClient idle = connect()) {
            FiveMastersTest.awaitAllVote(idle);
            masters.get(4).pause();
            restartEmpty(masters.get(0));
            awaitVotes(masters.get(0));
            assertThat(counters(masters.get(0)))
                    .as("those of three other masters, not those of its clock")
                    .isIn(counters(masters.get(1)), counters(masters.get(2)), counters(masters.get(3)));
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
            try (Lease lease = client.named("x").acquire()) { // the acquire reveals the loss
                assertThat(lease.isHeld()).isTrue();
                assertThat(has(masters.get(1), "lock:x")).isFalse();
            }
            awaitVotes(masters.get(1));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(LEASE.minusMillis(100));
            Await.until("the master votes for a lease", SOON, () -> {
                try (Lease lease =
                        client.named("x").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
                    Await.until(
                            "all masters have replied",
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

    /** The client waits longer than its connect timeout, since only the quarantine prevents a majority. */
    @Test
    void S15_clientWaitsForNewMasters() throws Exception {
        connect().close(); // loads the classes in advance, which takes seconds on a busy machine
        ClientOptions shortTimeout = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5));
        masters.get(2).kill();
        long start = System.nanoTime();
        try (LockClient client = Locks.connect(masters.url() + "?prefix=new:&lease=4s&maxLease=8s", shortTimeout);
                Lease lease = client.named("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(8));
    }

    /** A client that read the state of a master every 250 ms would do so 32 times. */
    @Test
    void S15_clientReadsTheStateOfAMasterInQuarantineRarely() {
        try (RawRedis redis = masters.get(0).connect()) {
            List<String> commands = redis.monitor(
                    () -> Locks.connect(masters.url() + "?prefix=new:&lease=4s&maxLease=8s", LONG_TIMEOUTS)
                            .close());
            assertThat(commands)
                    .filteredOn(command ->
                            command.contains(RedlockScript.HANDSHAKE.script().sha1()))
                    .hasSizeBetween(5, 16);
            assertThat(commands)
                    .as("once for each connection")
                    .filteredOn(command -> command.matches("(?i).* \"info\" \"server\""))
                    .hasSizeBetween(1, 3);
        }
    }

    @Test
    void S15_clientStopsWaitingIfQuarantineIsNotTheOnlyReason() {
        connect().close(); // loads the classes in advance, which takes seconds on a busy machine
        ClientOptions shortTimeout = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5));
        masters.get(1).kill();
        masters.get(2).kill();
        assertThatThrownBy(() -> Locks.connect(masters.url() + "?prefix=new:&lease=10m&maxLease=10m", shortTimeout))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no quorum at " + masters.url())
                .hasMessageMatching("(?s).*in quarantine for \\d{6} ms.*");
    }

    /** Masters are not new if one of them has data or a client has seen them vote. */
    @Test
    void S01_mastersInUseAreNotTreatedAsNewInTests() throws Exception {
        try (LockClient one = connect()) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            Lease lease = one.named("x").acquire();
            long start = System.nanoTime();
            masters.each(redis -> redis.call("FLUSHALL"));
            Await.until(
                    "the first client has restored maxLease at all masters",
                    SOON,
                    () -> masters.all().stream().allMatch(master -> storesMaxLease(master, "4000")));
            try (LockClient other = connect()) {
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(LEASE);
                assertThat(lease.isHeld()).as("the first lease is still held").isFalse();
                assertThat(other.named("x").tryAcquire(SOON)).isPresent();
            }
        }
    }

    /** Otherwise the first new client with a wrong value would decide the length of the quarantine. */
    @Test
    void S01_clientsRestoreMaxLeaseAtMastersThatForgotIt() throws Exception {
        try (LockClient client = connect("lease=4s&maxLease=10m&testOnlyNewMasters=true")) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            client.named("x").acquire(); // its renewals reveal the loss
            masters.each(redis -> redis.call("FLUSHALL"));
            Await.until(
                    "all masters store maxLease, long before they vote",
                    SOON,
                    () -> masters.all().stream().allMatch(master -> storesMaxLease(master, "600000")));
            assertThatThrownBy(this::connect)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContainingAll("maxLease is PT4S", "PT10M", "wait for PT10M");
        }
    }

    /** The holder's next renewal is due long after the quarantine that the new client would observe. */
    @Test
    void S01_newClientWithAWrongMaxLeaseIsRejectedWhileAHolderIsConnected() throws Exception {
        try (LockClient holder = connect("lease=10m&maxLease=10m&testOnlyNewMasters=true")) {
            masters.all().forEach(MasterQuarantineTest::awaitVotes);
            Lease lease = holder.named("x").acquire();
            masters.each(redis -> redis.call("FLUSHALL"));
            assertThatThrownBy(() -> connect("lease=4s&maxLease=4s").close())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContainingAll("maxLease is PT4S", "PT10M");
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** A wrong maxLease at the masters would lock out all other clients. */
    @Test
    void S01_clientWithoutAMajorityStoresNoMaxLease() throws Exception {
        Thread newClient = new Thread(() -> {
            try {
                connect("lease=4s&maxLease=1h").close();
            } catch (BackendUnavailableException e) {
                Thread.currentThread().interrupt(); // interrupted below
            }
        });
        newClient.start();
        try {
            Await.until(
                    "the client has connected to all masters",
                    SOON,
                    () -> masters.all().stream().allMatch(master -> state(master, "since") != null));
            assertThat(masters.all()).allMatch(master -> state(master, "maxLease") == null);
        } finally {
            newClient.interrupt();
            newClient.join();
        }
        connect().close();
    }

    private static @Nullable Object state(RedisTestServer master, String field) {
        try (RawRedis redis = master.connect()) {
            return redis.call("HGET", "lock:%redlock", field);
        }
    }

    private static boolean storesMaxLease(RedisTestServer master, String millis) {
        return millis.equals(state(master, "maxLease"));
    }
}
