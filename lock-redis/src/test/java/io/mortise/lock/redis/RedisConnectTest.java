// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Tests all ways to connect to one server, and the refusal of wrong ones. */
@Tag("once")
class RedisConnectTest {
    private static final String SECRET = "s3cr3t";

    private static RedisTestServer server;

    @BeforeAll
    static void startServer() {
        server = RedisTestServer.start(RedisServerOptions.defaults()
                .withPassword(SECRET)
                .withTls()
                .withUnixSocket()
                .withUser("uncounted", "on", ">" + SECRET, "~*", "&*", "+@all", "-pubsub")
                .withUser("mute", "on", ">" + SECRET, "~*", "+@all", "resetchannels")
                .withArguments("--maxmemory-policy", "allkeys-lru"));
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    /** Asserts that locks work over this URL: one client holds and releases a lock for which another one waits. */
    private static void assertLocksWork(String url) throws Exception {
        try (LockClient one = Locks.connect(url, RedisTests.LONG_TIMEOUTS);
                LockClient two = Locks.connect(url, RedisTests.LONG_TIMEOUTS)) {
            assertLocksWork(one, two);
        }
    }

    private static void assertLocksWork(LockClient one, LockClient two) throws Exception {
        Lease held = one.named("x", LockOptions.defaults().leaseDuration(Duration.ofSeconds(6)))
                .acquire();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        AtomicReference<Duration> remaining = new AtomicReference<>(held.remaining());
        Await.until("it is renewed", RedisTests.SOON, () -> {
            Duration now = held.remaining();
            return now.compareTo(remaining.getAndSet(now)) > 0;
        });
        assertThat(waiting).isNotDone();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        next.close();
        try (Lease again = one.named("x").tryAcquire().orElseThrow()) {
            assertThat(two.named("x").tryAcquire()).isEmpty();
            assertThat(again.isHeld()).isTrue();
        }
    }

    @Test
    void anApplicationSuppliedClientThatNeverReconnectsIsRefused() {
        RedisClient application = RedisClient.create(RedisURI.create(server.url()));
        try {
            application.setOptions(
                    io.lettuce.core.ClientOptions.builder().autoReconnect(false).build());
            assertThatThrownBy(() -> RedisLocks.connect(RedisOptions.using(application)))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("autoReconnect(false)");
        } finally {
            application.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private String address() {
        return "127.0.0.1:" + server.port();
    }

    @Test
    void byPasswordOfTheDefaultUser() throws Exception {
        assertLocksWork("redis://:" + SECRET + "@" + address());
    }

    @Test
    void S14_aPermissionThatAHandOffNeedsIsCheckedAtConnect() {
        assertThatThrownBy(
                        () -> Locks.connect("redis://uncounted:" + SECRET + "@" + address(), RedisTests.LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("pubsub");
    }

    @Test
    void byTls() throws Exception {
        assertLocksWork(server.tlsUrl() + "?trustedCertificates=" + server.certificate());
        assertLocksWork(server.tlsUrl() + "?verifyPeer=none");
    }

    @Test
    void S15_aCertificateThatIsNotTrustedIsRefusedAtOnce() {
        long start = System.nanoTime();
        assertThatThrownBy(() -> Locks.connect(server.tlsUrl(), RedisTests.LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("TLS")
                .hasMessageNotContaining(SECRET);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void byUnixSocket() throws Exception {
        assertLocksWork("redis-socket://:" + SECRET + "@" + server.unixSocket());
    }

    @Test
    void databasesAndPrefixesAreSeparateNamespaces() throws Exception {
        String url = "redis://:" + SECRET + "@" + address();
        try (LockClient zero = Locks.connect(url, RedisTests.LONG_TIMEOUTS);
                LockClient three = Locks.connect(url + "/3", RedisTests.LONG_TIMEOUTS);
                LockClient prefixed = Locks.connect(url + "?db=3&prefix=app:", RedisTests.LONG_TIMEOUTS);
                Lease first = zero.named("x").acquire();
                Lease second = three.named("x").tryAcquire().orElseThrow();
                Lease third = prefixed.named("x").tryAcquire().orElseThrow();
                RawRedis redis = server.connect()) {
            redis.call("SELECT", "3");
            assertThat(redis.keys("*")).containsExactly("app:%token", "app:x", "lock:%token", "lock:x");
            assertThat(List.of(first, second, third)).allMatch(Lease::isHeld);
        }
    }

    @Test
    void S15_wrongCredentialsAndDatabasesAreRefusedAtOnceAndNotPrinted() {
        for (String url : List.of(
                "redis://" + address(),
                "redis://:wrong-" + SECRET + "@" + address(),
                "redis://nobody:" + SECRET + "@" + address(),
                "redis://mute:" + SECRET + "@" + address(),
                "redis://:" + SECRET + "@" + address() + "/99")) {
            long start = System.nanoTime();
            assertThatThrownBy(() -> Locks.connect(url, RedisTests.LONG_TIMEOUTS))
                    .as(url)
                    .isInstanceOf(BackendRefusedException.class)
                    .hasMessageContaining(address())
                    .hasMessageNotContaining(SECRET);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        }
    }

    @Test
    void S15_aPortWithoutAServerIsReportedAfterTheConnectTimeout() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        long start = System.nanoTime();
        assertThatThrownBy(() -> Locks.connect(
                        "redis://127.0.0.1:" + port, ClientOptions.defaults().connectTimeout(Duration.ofMillis(600))))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("127.0.0.1:" + port);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(300), Duration.ofSeconds(30));
    }

    @Test
    void S15_aSilentServerIsReportedAfterTheConnectTimeout() throws Exception {
        try (ServerSocket silent = new ServerSocket(0)) {
            assertThatThrownBy(() -> Locks.connect(
                            "redis://127.0.0.1:" + silent.getLocalPort(),
                            ClientOptions.defaults().connectTimeout(Duration.ofMillis(600))))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + silent.getLocalPort());
        }
    }

    @Test
    void anApplicationSuppliedClientIsUsedAndNotClosed() throws Exception {
        RedisClient application = RedisClient.create(server.url());
        try {
            try (LockClient one = RedisLocks.connect(RedisOptions.using(application), RedisTests.LONG_TIMEOUTS);
                    LockClient two = RedisLocks.connect(RedisOptions.using(application), RedisTests.LONG_TIMEOUTS)) {
                assertLocksWork(one, two);
            }
            assertThat(application.connect().sync().ping()).isEqualTo("PONG");
            assertThat(RedisTests.connections(server))
                    .as("the one just opened, and the one of this query")
                    .isEqualTo(2);
        } finally {
            application.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void anApplicationSuppliedClientWithRejectingOptionsWorksToo() throws Exception {
        RedisClient application = RedisClient.create(server.url());
        application.setOptions(io.lettuce.core.ClientOptions.builder()
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .build());
        try (LockClient one = RedisLocks.connect(RedisOptions.using(application), RedisTests.LONG_TIMEOUTS);
                LockClient two = RedisLocks.connect(RedisOptions.using(application), RedisTests.LONG_TIMEOUTS)) {
            assertLocksWork(one, two);
        } finally {
            application.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void anApplicationSuppliedClientThatPinsTheOldProtocolIsRefused() {
        RedisClient application = RedisClient.create(server.url());
        application.setOptions(io.lettuce.core.ClientOptions.builder()
                .protocolVersion(ProtocolVersion.RESP2)
                .build());
        try {
            assertThatThrownBy(() -> RedisLocks.connect(RedisOptions.using(application), RedisTests.LONG_TIMEOUTS))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("RESP3");
        } finally {
            application.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void theDiagnosisNamesEvictionAndMissingPersistence() throws Exception {
        try (LockClient client =
                RedisLocks.connect(RedisOptions.connectTo(RedisURI.create(server.url())), RedisTests.LONG_TIMEOUTS)) {
            List<LockAdmin.Finding> findings = client.admin()
                    .orElseThrow()
                    .diagnose()
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            assertThat(findings)
                    .extracting(LockAdmin.Finding::what)
                    .anyMatch(what -> what.contains("allkeys-lru"))
                    .anyMatch(what -> what.contains("append-only"));
        }
    }

    @Test
    void aServerThatMayEvictLocksIsLoggedOnce() throws Exception {
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        try (LockClient client = Locks.connect(server.url() + "?prefix=warned:", RedisTests.LONG_TIMEOUTS)) {
            for (int i = 0; i < 3; i++) {
                client.named("x").acquire().release();
            }
            client.admin().orElseThrow().diagnose().toCompletableFuture().get(10, TimeUnit.SECONDS);
        }
        try (Stream<String> lines = Files.lines(log)) {
            assertThat(lines.filter(line -> line.contains("prefix warned:") && line.contains("event=eviction")))
                    .singleElement(as(InstanceOfAssertFactories.STRING))
                    .contains("WARN", "policy=allkeys-lru");
        }
    }

    @Test
    void aClientThatIsClosedAtOnceLogsNothingAboutEviction() throws Exception {
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        for (int i = 0; i < 20; i++) {
            Locks.connect(server.url() + "?prefix=brief:", RedisTests.LONG_TIMEOUTS)
                    .close();
        }
        try (Stream<String> lines = Files.lines(log)) {
            assertThat(lines.filter(line -> line.contains("prefix brief:") && line.contains("event=eviction-unknown")))
                    .isEmpty();
        }
    }

    @Test
    void S15_requestsThatAServerDoesNotReadAreLimited() throws Exception {
        int limit = 16_384;
        try (RedisTestServer silent = RedisTestServer.start();
                LockClient client =
                        Locks.connect(silent.url(), RedisTests.LONG_TIMEOUTS.requestTimeout(Duration.ofSeconds(20)))) {
            client.named("x").acquire().release();
            silent.pause();
            List<CompletableFuture<?>> tries = new ArrayList<>();
            for (int i = 0; i < limit + 100; i++) {
                tries.add(client.named("n" + i).tryAcquireAsync(Duration.ZERO));
            }
            CompletableFuture<?> last = tries.get(tries.size() - 1);
            assertThatThrownBy(() -> last.get(20, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(RedisException.class)
                    .hasStackTraceContaining("size exceeded: " + limit);
            silent.resume();
            for (CompletableFuture<?> each : tries) {
                each.handle((ok, failure) -> true).get(20, TimeUnit.SECONDS);
            }
            client.named("x").tryAcquire(RedisTests.SOON).orElseThrow().release();
        }
    }
}
