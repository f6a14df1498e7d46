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
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.redis.sentinel.SentinelAnswer;
import io.mortise.lock.redis.sentinel.SentinelConnection;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestSentinel;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lease needs that a majority of the sentinels names its master: whoever hears a minority alone may be cut off with it. */
@Tag("once")
@Timeout(90)
class SentinelMajorityTest {
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final ClientOptions LONG_TIMEOUTS = RedisTests.LONG_TIMEOUTS.requestTimeout(Duration.ofSeconds(10));

    private static RedisTestSentinel redis;
    private final List<TcpProxy> lines = new ArrayList<>();

    @BeforeAll
    static void start() {
        redis = RedisTestSentinel.start(RedisServerOptions.defaults(), 1, 3);
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @BeforeEach
    void connectLines() {
        ports().forEach(port -> lines.add(TcpProxy.to("127.0.0.1", port)));
    }

    private static List<Integer> ports() {
        return Pattern.compile(":(\\d+)")
                .matcher(redis.addresses())
                .results()
                .map(port -> Integer.valueOf(port.group(1)))
                .toList();
    }

    @AfterEach
    void closeLines() {
        lines.forEach(TcpProxy::close);
    }

    private static LockClient connect(String sentinels) {
        return connect(sentinels, LEASE);
    }

    private static LockClient connect(String sentinels, Duration lease) {
        return Locks.connect(
                "redis-sentinel://" + sentinels + "?lease=" + lease.toSeconds() + "s&master="
                        + RedisTestSentinel.MASTER_NAME,
                LONG_TIMEOUTS);
    }

    private LockClient connectByLines() {
        return connect(lines.stream().map(TcpProxy::address).collect(Collectors.joining(",")));
    }

    /** The master goes on renewing: without the sentinels the holder would believe for good. */
    @Test
    void S07_aHolderThatHearsOnlyAMinorityOfTheSentinelsStopsWithinOneLease() throws Exception {
        try (LockClient client = connectByLines()) {
            Lease lease = client.named("minority").acquire();
            lines.get(1).blackHole();
            lines.get(2).blackHole();
            long cut = System.nanoTime();
            LossReason reason = lease.lost().get(30, TimeUnit.SECONDS);
            assertThat(reason.kind()).isEqualTo(LossReason.Kind.EXPIRED);
            assertThat(lease.isHeld()).isFalse();
            // By the clock of the lease, not by when this thread was told: the machine may stand still meanwhile.
            assertThat(System.nanoTime() - cut).isLessThan(LEASE.plusSeconds(10).toNanos());
            assertThatThrownBy(() -> client.named("other").tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("no majority of the sentinels");
            lines.get(1).heal();
            // With a limit: a wait without one may end by the outage that the questions of a moment ago found.
            try (Lease again =
                    client.named("other").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
                assertThat(again.isHeld()).isTrue();
            }
        }
    }

    @Test
    void S07_aMinorityThatIsSilentCostsNothing() throws Exception {
        try (LockClient client = connectByLines()) {
            lines.get(0).blackHole();
            Lease lease = client.named("most").acquire();
            // Three leases long, with nothing but renewals.
            Optional<LossReason> lost = lease.lost()
                    .thenApply(Optional::of)
                    .completeOnTimeout(Optional.empty(), 3 * LEASE.toMillis(), TimeUnit.MILLISECONDS)
                    .get();
            assertThat(lost).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** Asked one after the other, in the URL's order, the silent one would cost its whole timeout, 30 s, each time. */
    @Test
    void S15_aSilentSentinelThatTheUrlNamesFirstDelaysNoConnection() throws Exception {
        lines.get(0).blackHole();
        ClientOptions options =
                LONG_TIMEOUTS.requestTimeout(Duration.ofSeconds(30)).connectTimeout(Duration.ofSeconds(70));
        long before = System.nanoTime();
        try (LockClient client = Locks.connect(
                "redis-sentinel://" + lines.stream().map(TcpProxy::address).collect(Collectors.joining(","))
                        + "?master=" + RedisTestSentinel.MASTER_NAME,
                options)) {
            try (RawRedis master = RawRedis.connect(redis.master().port())) {
                master.call("CLIENT", "KILL", "TYPE", "pubsub");
            }
            try (Lease lease = client.named("reconnected").acquire()) {
                assertThat(lease.isHeld()).isTrue();
            }
            // Not with the close: a request that was under way when the connection was killed may cost it a request
            // timeout.
            assertThat(System.nanoTime() - before)
                    .isLessThan(Duration.ofSeconds(20).toNanos());
        }
    }

    /** One answer of the sentinels serves for a sixth of a lease. */
    @Test
    void S02_aGrantCountsFromTheSentinelsAnswerWhereThatIsOlder() throws Exception {
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

    /** An answer serves for a sixth of a lease, here for more than a minute; a failure serves for a moment. */
    @Test
    void S15_sentinelsThatAreBackAreAskedAgainSoonHoweverLongTheLease() throws Exception {
        lines.get(1).blackHole();
        lines.get(2).blackHole();
        String sentinels = lines.stream().map(TcpProxy::address).collect(Collectors.joining(","));
        try (LockClient client = connect(sentinels, Duration.ofMinutes(10))) {
            assertThatThrownBy(() -> client.named("x").tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("no majority of the sentinels");
            lines.get(1).heal();
            lines.get(2).heal();
            assertThat(client.named("x").tryAcquire(Duration.ofSeconds(30))).hasValueSatisfying(Lease::close);
        }
    }

    @Test
    void S01_thoseWhomOneSentinelKnowsCountAsWell() throws Exception {
        try (LockClient client = connect("127.0.0.1:" + ports().get(0));
                Lease lease = client.named("told").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            for (int port : ports()) {
                try (RawRedis sentinel = RawRedis.connect(port)) {
                    // Two of the three answers made the grant: the third may still be on its way.
                    Await.until(
                            "the sentinel at " + port + " is asked",
                            Duration.ofSeconds(20),
                            () -> !sentinel.mortiseClients().isEmpty());
                }
            }
        }
    }

    @Test
    void sentinelsAreAskedOnlyWhileSomebodyAcquiresOrHolds() throws Exception {
        try (LockClient client = connectByLines()) {
            for (int i = 0; i < 50; i++) {
                client.named("often").acquire().close();
            }
            assertThat(lines).allMatch(line -> line.connections() <= 2);
        }
    }

    /** Its loss is told by the thread that is held: until then it seems to be held. */
    @Test
    void S15_aSentinelWhoseConnectionWasLostUnseenIsAskedOverAnother() throws Exception {
        List<StatefulRedisPubSubConnectionImpl<String, String>> opened = new CopyOnWriteArrayList<>();
        CountDownLatch held = new CountDownLatch(1);
        RedisClient client = RedisClient.create();
        try {
            client.addListener(new RedisConnectionStateListener() {
                @Override
                @SuppressWarnings("unchecked") // it has only those
                public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
                    opened.add((StatefulRedisPubSubConnectionImpl<String, String>) connection);
                }
            });
            SentinelConnection sentinel = new SentinelConnection(
                    client, RedisURI.create("127.0.0.1", ports().get(0)), ForkJoinPool.commonPool());
            SentinelAnswer first = get(sentinel.ask(RedisTestSentinel.MASTER_NAME));
            CountDownLatch holding = new CountDownLatch(1);
            AsyncCommand<String, String, String> ping =
                    new AsyncCommand<>(new Command<>(CommandType.PING, new StatusOutput<>(StringCodec.UTF8)));
            CompletionStage<Void> holder = ping.thenRun(() -> {
                holding.countDown();
                awaitUninterruptibly(held);
            });
            opened.get(0).dispatch(ping); // not before: its answer is to find who holds
            holding.await();
            CompletableFuture<Void> lost = opened.get(0).closeAsync();
            CompletionStage<SentinelAnswer> second = sentinel.ask(RedisTestSentinel.MASTER_NAME);
            held.countDown();
            assertThat(get(second)).isEqualTo(first);
            assertThat(opened).hasSize(2);
            get(holder);
            get(lost);
        } finally {
            held.countDown();
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
