// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests faults that are special to Redis, such as forgotten scripts, a clock that is set, and late requests. */
@Tag("once")
class RedisFaultsTest {
    private static final ClientOptions SHORT_TIMEOUTS = RedisTests.LONG_TIMEOUTS.requestTimeout(Duration.ofMillis(400));

    private RedisTestServer server;
    private RawRedis redis;

    @BeforeEach
    void startServer() {
        server = RedisTestServer.start();
        redis = server.connect();
    }

    @AfterEach
    void stopServer() {
        redis.close();
        server.close();
    }

    private LockClient client() {
        return RedisLocks.connect(RedisOptions.connectTo(RedisURI.create(server.url())), RedisTests.LONG_TIMEOUTS);
    }

    private static MonotonicInstant now() {
        return new MonotonicInstant(System.nanoTime());
    }

    @Test
    void aServerThatForgotTheScriptsReceivesThemAgain() throws Exception {
        try (LockClient client = client()) {
            client.named("x").acquire().close();
            redis.call("SCRIPT", "FLUSH");
            try (Lease lease = client.named("x").acquire()) {
                assertThat(lease.isHeld()).isTrue();
                redis.call("SCRIPT", "FLUSH");
            }
            assertThat(redis.call("EXISTS", "lock:x")).isEqualTo(0L);
        }
    }

    @Test
    void S03_tokensIncreaseOverLossOfAllDataAndARestartWithoutAny() throws Exception {
        try (LockClient client = client()) {
            Lease first = client.named("x").acquire();
            redis.call("FLUSHALL");
            Lease second = client.named("x").acquire();
            assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
            server.restart();
            Lease third = client.named("x").tryAcquire(Duration.ofSeconds(20)).orElseThrow();
            assertThat(third.fencingToken()).isGreaterThan(second.fencingToken());
            assertThat(first.release()).isEqualTo(ReleaseOutcome.LOST);
            third.close();
        }
    }

    /** To the client, its estimate of the server's clock is wrong then. */
    @Test
    void S08_aServerClockThatWasSetIsDetectedByTheNextReply() throws Exception {
        AtomicReference<RedisBackend> opened = new AtomicReference<>();
        try (LockClient client = BackendClients.open(
                context -> {
                    RedisBackend backend =
                            RedisBackend.open(RedisOptions.connectTo(RedisURI.create(server.url())), context);
                    opened.set(backend);
                    return backend;
                },
                RedisTests.LONG_TIMEOUTS)) {
            client.named("x").acquire().close();
            ServerClock time = Objects.requireNonNull(opened.get())
                    .connections()
                    .nodes()
                    .get(0)
                    .serverClock();
            Duration hour = Duration.ofHours(1);
            for (Duration wrong : List.of(hour.negated(), hour)) {
                time.onReply(now(), time.latestTimeAt(now(), Duration.ZERO).plus(wrong));
                redis.resetCommandCalls();
                client.named("x").acquire().close();
                assertThat(redis.commandCalls().get("evalsha"))
                        .as("one more request if the clock was set forward")
                        .isEqualTo(wrong.isNegative() ? 3L : 2L);
                assertThat(time.latestTimeAt(now(), Duration.ZERO).instant())
                        .isCloseTo(Instant.now(), within(Duration.ofMinutes(30)));
            }
        }
    }

    @Test
    void S19_aForgedGrantFailsTheWaiterInsteadOfHangingIt() throws Exception {
        try (DelayingProxy proxy = new DelayingProxy(server.port());
                LockClient client = RedisLocks.connect(
                        RedisOptions.connectTo(RedisURI.create("127.0.0.1", proxy.port())), RedisTests.LONG_TIMEOUTS)) {
            try (Lease held = client.named("x").acquire()) {
                CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
                Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 1);
                String attempt = String.valueOf(
                        ((List<?>) Objects.requireNonNull(redis.call("ZRANGE", "lock:%queue:x", "0", "-1"))).get(0));
                redis.call("SET", "lock:x", attempt); // as if it were granted, without a token
                redis.call(
                        "PUBLISH", String.valueOf(channel()), RedisTests.signed(redis, "x", attempt, "W " + attempt));
                assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(BackendRefusedException.class);
                assertThat(held.isHeld()).isTrue();
            }
        }
    }

    private Object channel() {
        List<?> channels = (List<?>) Objects.requireNonNull(redis.call("PUBSUB", "CHANNELS"));
        return Objects.requireNonNull(channels.get(0));
    }

    @Test
    void S08_anAcquireThatArrivesAfterItsTimeoutIsNotExecuted() throws Exception {
        try (TcpProxy link = TcpProxy.to("127.0.0.1", server.port());
                LockClient client = RedisLocks.connect(
                        RedisOptions.connectTo(RedisURI.create("127.0.0.1", link.port())), SHORT_TIMEOUTS)) {
            client.named("x").acquire().close();
            link.blackHole();
            assertThatThrownBy(() -> client.named("x").tryAcquire()).isInstanceOf(BackendUnavailableException.class);
            long until = System.nanoTime() + 3 * SHORT_TIMEOUTS.requestTimeout().toNanos();
            Await.until("the request is too late", RedisTests.SOON, () -> System.nanoTime() - until > 0);
            List<String> ran = redis.monitor(() -> {
                link.heal(); // delivers the pending requests
                Await.until("the link works again", RedisTests.SOON, () -> {
                    try {
                        Optional<Lease> lease = client.named("y").tryAcquire();
                        lease.ifPresent(Lease::close);
                        return lease.isPresent(); // else a grant of an earlier try still exists
                    } catch (BackendUnavailableException e) {
                        return false;
                    }
                });
            });
            assertThat(ran)
                    .as("the request arrived")
                    .anyMatch(command -> command.contains("\"lock:x\"")
                            && command.contains(RedisLockScript.ACQUIRE.script().sha1()));
            assertThat(ran)
                    .as("and wrote nothing")
                    .noneMatch(command -> command.contains("lua]")
                            && command.contains("\"lock:x\"")
                            && command.toLowerCase(Locale.ROOT).contains("\"set\""));
        }
    }

    @Test
    void S15_aSilentConnectionIsReplaced() throws Exception {
        try (DelayingProxy proxy = new DelayingProxy(server.port())) {
            assertSilentConnectionIsReplaced(proxy, RedisOptions.connectTo(RedisURI.create("127.0.0.1", proxy.port())));
        }
    }

    @Test
    void S15_aSilentConnectionOfAnApplicationSuppliedClientIsReplaced() throws Exception {
        try (DelayingProxy proxy = new DelayingProxy(server.port())) {
            RedisClient application = RedisClient.create(RedisURI.create("127.0.0.1", proxy.port()));
            try {
                assertSilentConnectionIsReplaced(proxy, RedisOptions.using(application));
            } finally {
                application.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    private static void assertSilentConnectionIsReplaced(DelayingProxy proxy, RedisOptions options) throws Exception {
        try (LockClient client = RedisLocks.connect(options, SHORT_TIMEOUTS)) {
            Lease lease = client.named("x").acquire();
            proxy.silence();
            // This would never succeed on the silent connection.
            try (Lease other = client.named("y").tryAcquire(RedisTests.SOON).orElseThrow()) {
                assertThat(other.isHeld()).isTrue();
                assertThat(lease.release())
                        .isNotEqualTo(ReleaseOutcome.LOST); // a stall may outlast so short a request timeout
            }
        }
    }

    @Test
    void S08_anAcquireThatIsExecutedAfterItsReleaseIsUndone() throws Exception {
        try (DelayingProxy proxy = new DelayingProxy(server.port());
                LockClient client = RedisLocks.connect(
                        RedisOptions.connectTo(RedisURI.create("127.0.0.1", proxy.port())), RedisTests.LONG_TIMEOUTS)) {
            client.named("x").acquire().close();
            proxy.silence();
            CompletableFuture<Lease> acquiring = client.named("x").acquireAsync();
            Await.until("the acquire was sent", RedisTests.SOON, () -> proxy.held() > 0);
            acquiring.cancel(true);
            proxy.cutClients(); // the withdrawal uses a new connection while the acquire is still pending
            try (Lease other =
                    client.named("y").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
                assertThat(other.isHeld()).isTrue();
                long before = redis.commandCalls().getOrDefault("set", 0L);
                proxy.deliver();
                Await.until(
                        "the late acquire was granted",
                        RedisTests.SOON,
                        () -> redis.commandCalls().getOrDefault("set", 0L) > before);
                Await.until(
                        "the grant is removed",
                        Duration.ofSeconds(10),
                        () -> Long.valueOf(0).equals(redis.call("EXISTS", "lock:x")));
            }
        }
    }

    @Test
    void S15_afterASilenceTheServerIsUsedAgain() throws Exception {
        try (LockClient client =
                RedisLocks.connect(RedisOptions.connectTo(RedisURI.create(server.url())), SHORT_TIMEOUTS)) {
            Lease lease = client.named("x").acquire();
            server.pause();
            assertThatThrownBy(() -> client.named("y").tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + server.port());
            server.resume();
            assertThat(client.named("z").tryAcquire(Duration.ofSeconds(10))).hasValueSatisfying(Lease::close);
            assertThat(lease.release())
                    .isNotEqualTo(ReleaseOutcome.LOST); // a stall may outlast so short a request timeout
            Await.until(
                    "all keys are removed",
                    RedisTests.SOON,
                    () -> redis.keys("*").equals(List.of("lock:%token")));
        }
    }
}
