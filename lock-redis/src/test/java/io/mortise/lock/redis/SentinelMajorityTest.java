// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.sentinel.SentinelConnection;
import io.mortise.lock.redis.sentinel.SentinelReply;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisSentinelTestDeployment;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a lease needs a majority of the sentinels to name its master. A client that reaches only a minority may be cut off
 * together with an old master.
 */
@Tag("once")
class SentinelMajorityTest {
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final ClientOptions LONG_TIMEOUTS = RedisTests.LONG_TIMEOUTS.requestTimeout(Duration.ofSeconds(10));

    private static RedisSentinelTestDeployment redis;
    private final List<TcpProxy> links = new ArrayList<>();

    @BeforeAll
    static void start() {
        redis = RedisSentinelTestDeployment.start(RedisServerOptions.defaults(), 1, 3);
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @BeforeEach
    void openLinks() {
        ports().forEach(port -> links.add(TcpProxy.to("127.0.0.1", port)));
    }

    private static List<Integer> ports() {
        return Pattern.compile(":(\\d+)")
                .matcher(redis.addresses())
                .results()
                .map(port -> Integer.valueOf(port.group(1)))
                .toList();
    }

    @AfterEach
    void closeLinks() {
        links.forEach(TcpProxy::close);
    }

    private static LockClient connect(String sentinels) {
        return connect(sentinels, LEASE);
    }

    private static LockClient connect(String sentinels, Duration lease) {
        return Locks.connect(
                "redis-sentinel://" + sentinels + "?lease=" + lease.toSeconds() + "s&master="
                        + RedisSentinelTestDeployment.MASTER_NAME,
                LONG_TIMEOUTS);
    }

    private LockClient connectOverLinks() {
        return connect(links.stream().map(TcpProxy::address).collect(Collectors.joining(",")));
    }

    /** The old master still renews: without the sentinels the blocking would consider the lease valid forever. */
    @Test
    void S07_aHolderThatReachesOnlyAMinorityOfTheSentinelsLosesTheLeaseWithinOneLease() throws Exception {
        try (LockClient client = connectOverLinks()) {
            Lease lease = client.named("minority").acquire();
            links.get(1).blackHole();
            links.get(2).blackHole();
            long cut = System.nanoTime();
            LossReason reason = lease.lost().get(30, TimeUnit.SECONDS);
            assertThat(reason.kind()).isEqualTo(LossReason.Kind.EXPIRED);
            assertThat(lease.isHeld()).isFalse();
            // Generous, because the machine may stall before this thread is notified.
            assertThat(System.nanoTime() - cut).isLessThan(LEASE.plusSeconds(10).toNanos());
            assertThatThrownBy(() -> client.named("other").tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("no majority of the sentinels");
            links.get(1).heal();
            // With a time limit: an acquire without one may fail at once because of the failed queries just before.
            try (Lease again =
                    client.named("other").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
                assertThat(again.isHeld()).isTrue();
            }
        }
    }

    @Test
    @Tag("long")
    void S07_aSilentMinorityCostsNoLease() throws Exception {
        try (LockClient client = connectOverLinks()) {
            links.get(0).blackHole();
            Lease lease = client.named("most").acquire();
            // Waits for three leases, during which only renewals are sent.
            Optional<LossReason> lost = lease.lost()
                    .thenApply(Optional::of)
                    .completeOnTimeout(Optional.empty(), 3 * LEASE.toMillis(), TimeUnit.MILLISECONDS)
                    .get();
            assertThat(lost).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** With sequential queries in the URL's order, the silent sentinel would cost its whole timeout of 12 s each time. */
    @Test
    void S15_aSilentSentinelThatTheUrlNamesFirstDelaysNoConnection() throws Exception {
        links.get(0).blackHole();
        ClientOptions options =
                LONG_TIMEOUTS.requestTimeout(Duration.ofSeconds(12)).connectTimeout(Duration.ofSeconds(70));
        long before = System.nanoTime();
        try (LockClient client = Locks.connect(
                "redis-sentinel://" + links.stream().map(TcpProxy::address).collect(Collectors.joining(","))
                        + "?master=" + RedisSentinelTestDeployment.MASTER_NAME,
                options)) {
            try (RawRedis master = RawRedis.connect(redis.master().port())) {
                master.call("CLIENT", "KILL", "TYPE", "pubsub");
            }
            try (Lease lease = client.named("reconnected").acquire()) {
                assertThat(lease.isHeld()).isTrue();
            }
            // Measured before the close, which may take a request timeout because of a request that was pending when
            // the
            // connection was killed.
            assertThat(System.nanoTime() - before)
                    .isLessThan(Duration.ofSeconds(11).toNanos());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "redis-cluster"})
    void S15_aSentinelPortInTheUrlOfAnotherSchemeIsRefused(String scheme) {
        String sentinel = "127.0.0.1:" + ports().get(0);
        assertThatThrownBy(() -> Locks.connect(scheme + "://" + sentinel, LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining(sentinel)
                .hasMessageContaining("use redis-sentinel://");
    }

    /**
     * Lettuce warns of each connection that is closed twice. One that ends just when its client closes it is, now and then; here are
     * thirty or more.
     */
    @Test
    void connectionsToSentinelsAreClosedOnce() throws Exception {
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        long before = closedTwice(log);
        for (int i = 0; i < 5; i++) {
            try (LockClient client = connect(redis.addresses())) {
                client.named("closed").acquire().release();
            }
            assertThatThrownBy(() -> Locks.connect(
                            "redis-sentinel://" + redis.addresses() + "?master=other",
                            LONG_TIMEOUTS.connectTimeout(Duration.ofMillis(300))))
                    .isInstanceOf(BackendUnavailableException.class);
        }
        assertThat(closedTwice(log) - before).isLessThan(5);
    }

    private static long closedTwice(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.contains("Connection is already closed"))
                    .count();
        }
    }

    /** A confirmation by the sentinels is valid for a sixth of a lease. */
    @Test
    void S02_aGrantCountsFromAnOlderConfirmationBySentinels() throws Exception {
        try (LockClient client = connect(redis.addresses(), Duration.ofMinutes(10));
                Lease first = client.named("first").acquire()) {
            Duration later = first.remaining().minusSeconds(2);
            Await.until(
                    "some time has passed",
                    Duration.ofSeconds(20),
                    () -> first.remaining().compareTo(later) < 0);
            try (Lease second = client.named("second").acquire()) {
                assertThat(first.remaining().plusSeconds(1)).isGreaterThan(second.remaining());
            }
        }
    }

    /** A confirmation is valid for a sixth of a lease, here for more than a minute, but a failure only for 100 ms. */
    @Test
    @Tag("long")
    void S15_sentinelsThatAreBackAreQueriedAgainSoonHoweverLongTheLease() throws Exception {
        links.get(1).blackHole();
        links.get(2).blackHole();
        String sentinels = links.stream().map(TcpProxy::address).collect(Collectors.joining(","));
        try (LockClient client = connect(sentinels, Duration.ofMinutes(10))) {
            assertThatThrownBy(() -> client.named("x").tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("no majority of the sentinels");
            links.get(1).heal();
            links.get(2).heal();
            assertThat(client.named("x").tryAcquire(Duration.ofSeconds(30))).hasValueSatisfying(Lease::close);
        }
    }

    @Test
    void S01_sentinelsThatAnotherReportsCountToo() throws Exception {
        try (LockClient client = connect("127.0.0.1:" + ports().get(0));
                Lease lease = client.named("told").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            for (int port : ports()) {
                try (RawRedis sentinel = RawRedis.connect(port)) {
                    // Two of the three replies were enough for the grant; the third may still be pending.
                    Await.until(
                            "the sentinel at " + port + " is queried",
                            Duration.ofSeconds(20),
                            () -> !sentinel.mortiseClients().isEmpty());
                }
            }
        }
    }

    /** The next connection may lead to another server, which the sentinels name and which does not have the grant. */
    @Test
    void S01_aGrantOfALostConnectionIsNotConfirmedByTheNext() throws Exception {
        AtomicReference<RedisBackend> opened = new AtomicReference<>();
        AtomicReference<LockClock> clock = new AtomicReference<>();
        RedisURI uri = RedisURI.create(
                "redis-sentinel://" + redis.addresses() + "#" + RedisSentinelTestDeployment.MASTER_NAME);
        try (LockClient client = BackendClients.open(
                context -> {
                    clock.set(context.clock());
                    RedisBackend backend = RedisBackend.open(RedisOptions.connectTo(uri), context);
                    opened.set(backend);
                    return backend;
                },
                LONG_TIMEOUTS)) {
            RedisBackend backend = Objects.requireNonNull(opened.get());
            LockClock ticker = Objects.requireNonNull(clock.get());
            RedisNodeClient node = backend.connections().nodes().get(0);
            int lost = node.epoch();
            assertThat(confirm(backend, lost, ticker)).isEmpty();
            try (RawRedis master = RawRedis.connect(redis.master().port())) {
                master.call("CLIENT", "KILL", "TYPE", "pubsub");
            }
            Await.until("it has reconnected", RedisTests.SOON, () -> node.epoch() != lost && node.isConnected());
            assertThat(confirm(backend, lost, ticker)).isPresent();
            assertThat(confirm(backend, node.epoch(), ticker)).isEmpty();
        }
    }

    /** Returns why a grant of the connection of this epoch is not confirmed; empty if it is. */
    private static Optional<LockException> confirm(RedisBackend backend, int epoch, LockClock clock) throws Exception {
        CompletableFuture<Optional<LockException>> result = new CompletableFuture<>();
        MonotonicInstant now = clock.now();
        backend.confirmation()
                .check(
                        backend.connections().nodes().get(0),
                        epoch,
                        now,
                        now.plus(LEASE),
                        LEASE,
                        (from, failure) -> result.complete(Optional.ofNullable(failure)));
        return get(result);
    }

    @Test
    void sentinelsAreQueriedOnlyWhileLocksAreAcquiredOrHeld() throws Exception {
        try (LockClient client = connectOverLinks()) {
            for (int i = 0; i < 50; i++) {
                client.named("often").acquire().close();
            }
            assertThat(links).allMatch(link -> link.connections() <= 2);
        }
    }

    /** The blocked thread reports the loss of the connection, so the connection seems to be open until then. */
    @Test
    void S15_aSentinelWhoseConnectionWasLostUnnoticedIsQueriedOverAnother() throws Exception {
        List<StatefulRedisPubSubConnectionImpl<String, String>> opened = new CopyOnWriteArrayList<>();
        CountDownLatch unblock = new CountDownLatch(1);
        RedisClient client = RedisClient.create();
        try {
            client.addListener(new RedisConnectionStateListener() {
                @Override
                @SuppressWarnings("unchecked") // the client opens no others
                public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
                    opened.add((StatefulRedisPubSubConnectionImpl<String, String>) connection);
                }
            });
            SentinelConnection sentinel = new SentinelConnection(
                    client, RedisURI.create("127.0.0.1", ports().get(0)), ForkJoinPool.commonPool());
            SentinelReply first = get(sentinel.query(RedisSentinelTestDeployment.MASTER_NAME));
            CountDownLatch blocked = new CountDownLatch(1);
            AsyncCommand<String, String, String> ping =
                    new AsyncCommand<>(new Command<>(CommandType.PING, new StatusOutput<>(StringCodec.UTF8)));
            CompletionStage<Void> blocking = ping.thenRun(() -> {
                blocked.countDown();
                awaitUninterruptibly(unblock);
            });
            opened.get(0).dispatch(ping); // not before: its reply must find the blocking callback
            blocked.await();
            CompletableFuture<Void> lost = opened.get(0).closeAsync();
            CompletionStage<SentinelReply> second = sentinel.query(RedisSentinelTestDeployment.MASTER_NAME);
            unblock.countDown();
            assertThat(get(second)).isEqualTo(first);
            assertThat(opened).hasSize(2);
            get(blocking);
            get(lost);
        } finally {
            unblock.countDown();
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
