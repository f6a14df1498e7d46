// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests connecting with credentials, TLS, databases and application-supplied clients, and the errors of failed attempts. */
@Tag("once")
class RedlockConnectTest {
    private static final String SECRET = "s3cr3t";
    private static final Duration LONG_LEASE = Duration.ofSeconds(6);
    private static final String SHORT_LEASE = "?lease=2s&maxLease=6s&testOnlyNewMasters=true";
    private static final Duration SOON = FiveMastersTest.SOON;
    private static final ClientOptions LONG_TIMEOUTS = FiveMastersTest.LONG_TIMEOUTS;

    private static RedisTestMasters masters;

    @TempDir
    private static Path files;

    @BeforeAll
    static void startMasters() {
        masters = RedisTestMasters.start(
                3,
                RedisServerOptions.defaults()
                        .withPassword(SECRET)
                        .withTls()
                        .withUser("locks", "on", ">" + SECRET, "~*", "&*", "+@all")
                        .withUser("blind", "on", ">" + SECRET, "~*", "&*", "+@all", "-info"));
    }

    @AfterAll
    static void stopMasters() {
        masters.close();
    }

    private static String url(String scheme, String access, ToIntFunction<RedisTestServer> port, String rest) {
        String hosts = masters.all().stream()
                .map(server -> "127.0.0.1:" + port.applyAsInt(server))
                .collect(Collectors.joining(","));
        return scheme + "://" + access + hosts + rest;
    }

    private static String url(String access, String rest) {
        return url("redlock", access, RedisTestServer::port, rest);
    }

    private static int tlsPort(RedisTestServer server) {
        return RedisURI.create(server.tlsUrl()).getPort();
    }

    private static List<RedisURI> uris() {
        return masters.all().stream()
                .map(server -> RedisURI.create(server.url()))
                .toList();
    }

    private static RedlockOptions shortLease(RedlockOptions options) {
        return options.leaseDuration(Duration.ofSeconds(2)).maxLease(LONG_LEASE).testOnlyNewMasters();
    }

    /** Checks that a lease is renewed, and that a waiter of another client gets the lock after the release. */
    private static void assertLocks(LockClient one, LockClient two) throws Exception {
        Lease held =
                one.named("x", LockOptions.defaults().leaseDuration(LONG_LEASE)).acquire();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        AtomicReference<Duration> remaining = new AtomicReference<>(held.remaining());
        Await.until("the lease is renewed", SOON, () -> {
            Duration now = held.remaining();
            return now.compareTo(remaining.getAndSet(now)) > 0;
        });
        assertThat(waiting).isNotDone();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        next.close();
    }

    private static void assertLocks(String url) throws Exception {
        try (LockClient one = Locks.connect(url, LONG_TIMEOUTS);
                LockClient two = Locks.connect(url, LONG_TIMEOUTS)) {
            assertLocks(one, two);
        }
    }

    @Test
    void connectsWithDefaultUserPasswordAndDatabase() throws Exception {
        assertLocks(url(":" + SECRET + "@", "/3" + SHORT_LEASE));
    }

    /** Returns a file with the certificates of all masters. */
    private static Path certificates() throws IOException {
        Path all = files.resolve("all.pem");
        StringBuilder text = new StringBuilder();
        for (RedisTestServer server : masters.all()) {
            text.append(Files.readString(server.certificate()));
        }
        return Files.writeString(all, text);
    }

    @Test
    void connectsWithTls() throws Exception {
        assertLocks(url(
                "redlocks",
                ":" + SECRET + "@",
                RedlockConnectTest::tlsPort,
                SHORT_LEASE + "&trustedCertificates=" + certificates()));
    }

    @Test
    void S15_untrustedCertificatesFailAtOnce() {
        assertRefusedAtOnce(url("redlocks", ":" + SECRET + "@", RedlockConnectTest::tlsPort, ""), "TLS");
    }

    @Test
    void connectsToEachMasterByItsOwnUri() throws Exception {
        List<RedisURI> mixed = new ArrayList<>(uris());
        mixed.set(0, RedisURI.create(masters.get(0).tlsUrl()));
        mixed.set(
                1,
                RedisURI.create("redis://locks:" + SECRET + "@127.0.0.1:"
                        + masters.get(1).port()));
        mixed.get(2).setDatabase(4);
        RedlockOptions options = shortLease(RedlockOptions.connectTo(mixed))
                .sslOptions(SslOptions.builder()
                        .trustManager(certificates().toFile())
                        .build());
        try (LockClient one = RedlockLocks.connect(options, LONG_TIMEOUTS);
                LockClient two = RedlockLocks.connect(options, LONG_TIMEOUTS)) {
            FiveMastersTest.awaitAllVote(one);
            assertLocks(one, two);
            Await.until("no vote fails", SOON, () -> summary(one).count(RedlockVoteSummary.Vote.FAILED) == 0);
        }
    }

    private static RedlockVoteSummary summary(LockClient client) throws Exception {
        try (Lease lease = client.named("summary").acquire()) {
            return lease.unwrap(RedlockVoteSummary.class).orElseThrow();
        }
    }

    private static void assertRefusedAtOnce(String url, String part) {
        long start = System.nanoTime();
        assertThatThrownBy(() -> Locks.connect(url, LONG_TIMEOUTS))
                .as(url)
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContainingAll("127.0.0.1:", part)
                .hasMessageNotContaining(SECRET);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void S15_wrongCredentialsAndDatabasesFailAtOnceAndAreNotPrinted() {
        assertRefusedAtOnce(url("", ""), "NOAUTH");
        assertRefusedAtOnce(url(":wrong-" + SECRET + "@", ""), "WRONGPASS");
        assertRefusedAtOnce(url("unknown:" + SECRET + "@", ""), "WRONGPASS");
        assertRefusedAtOnce(url(":" + SECRET + "@", "/99"), "database");
        assertRefusedAtOnce(url("blind:" + SECRET + "@", ""), "info");
    }

    private static List<RedisURI> urisWithWrongPasswordAt(int... masterIndexes) {
        List<RedisURI> uris = new ArrayList<>(uris());
        for (int index : masterIndexes) {
            uris.set(
                    index,
                    RedisURI.create("redis://:wrong-" + SECRET + "@127.0.0.1:"
                            + masters.get(index).port()));
        }
        return uris;
    }

    @Test
    void S15_wrongCredentialsAtAMajorityFailAtOnce() {
        long start = System.nanoTime();
        assertThatThrownBy(() -> RedlockLocks.connect(
                        shortLease(RedlockOptions.connectTo(urisWithWrongPasswordAt(0, 2))), LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("WRONGPASS")
                .hasMessageNotContaining(SECRET);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void S15_wrongCredentialsAtOneMasterAreReportedAndTolerated() throws Exception {
        RedlockOptions options = shortLease(RedlockOptions.connectTo(urisWithWrongPasswordAt(1)));
        try (LockClient one = RedlockLocks.connect(options, LONG_TIMEOUTS);
                LockClient two = RedlockLocks.connect(options, LONG_TIMEOUTS)) {
            assertLocks(one, two);
            // Lettuce loses the reason of an attempt whose reply comes before it has registered for it.
            Deque<RedlockVoteSummary> summaries = new ArrayDeque<>();
            Await.until("the failed vote has its reason", SOON, () -> {
                summaries.addLast(summary(one));
                return summaries.getLast().toString().contains("WRONGPASS");
            });
            RedlockVoteSummary summary = summaries.getLast();
            assertThat(summary.count(RedlockVoteSummary.Vote.ACQUIRED)).isEqualTo(2);
            RedlockVoteSummary.Instance wrong = summary.masters().get(1);
            assertThat(wrong.vote()).isEqualTo(RedlockVoteSummary.Vote.FAILED);
            assertThat(wrong.endpoint()).endsWith(":" + masters.get(1).port());
            assertThat(wrong.error().orElseThrow()).contains("WRONGPASS");
            assertThat(summary.toString())
                    .contains("ACQUIRED", "FAILED", "WRONGPASS")
                    .doesNotContain(SECRET);
            assertThat(one.admin()
                            .orElseThrow()
                            .diagnose()
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS))
                    .anySatisfy(finding -> assertThat(finding.what())
                            .contains(":" + masters.get(1).port(), "WRONGPASS"));
        }
    }

    @Test
    void S15_missingMastersAreNamedAfterTheConnectTimeout() {
        try (RedisTestMasters down = RedisTestMasters.start(3)) {
            down.get(0).kill();
            down.get(2).kill();
            assertThatThrownBy(() -> Locks.connect(
                            down.url() + "?lease=1s&maxLease=1s",
                            ClientOptions.defaults().connectTimeout(Duration.ofSeconds(10))))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContainingAll(
                            "no quorum",
                            down.get(0).port() + ": not connected",
                            down.get(1).port() + ": votes",
                            down.get(2).port() + ": not connected");
        }
    }

    @Test
    void clientsOfTheApplicationAreUsedAndNotClosed() throws Exception {
        List<RedisClient> application = masters.all().stream()
                .map(server -> RedisClient.create(server.url()))
                .toList();
        try {
            RedlockOptions options =
                    shortLease(RedlockOptions.using(application)).prefix("lock:supplied:");
            try (LockClient one = RedlockLocks.connect(options, LONG_TIMEOUTS);
                    LockClient two = RedlockLocks.connect(options, LONG_TIMEOUTS)) {
                assertLocks(one, two);
            }
            for (int i = 0; i < application.size(); i++) {
                assertThat(application.get(i).connect().sync().ping()).isEqualTo("PONG");
                int master = i;
                Await.until(
                        "only the connection just opened and the one of this query remain",
                        SOON,
                        () -> connections(master).equals("2"));
            }
        } finally {
            for (RedisClient client : application) {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    private static String connections(int master) {
        try (var redis = masters.get(master).connect()) {
            return Objects.requireNonNull(redis.info("clients").get("connected_clients"));
        }
    }

    private static Throwable failureToConnect(String url, ClientOptions options) throws Exception {
        return CompletableFuture.supplyAsync(() -> {
                    try (LockClient unexpected = Locks.connect(url, options)) {
                        return new AssertionError("connected: " + unexpected);
                    } catch (RuntimeException e) {
                        return e;
                    }
                })
                .get(60, TimeUnit.SECONDS);
    }

    @Test
    void S15_portWithAnotherProtocolFailsEarly() throws Exception {
        ClientOptions longConnectTimeout = ClientOptions.defaults().connectTimeout(Duration.ofMinutes(10));
        assertThat(failureToConnect(url("redlocks", "", RedisTestServer::port, ""), longConnectTimeout))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("does not speak TLS");
        assertThat(failureToConnect(url("redlock", "", RedlockConnectTest::tlsPort, ""), longConnectTimeout))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("speaks TLS");
    }

    @Test
    void S15_mastersThatRefuseTheConnectionAreAwaitedAndNamed() throws Exception {
        List<String> ports = new ArrayList<>();
        List<ServerSocket> unusedPorts = List.of(new ServerSocket(0), new ServerSocket(0), new ServerSocket(0));
        for (ServerSocket socket : unusedPorts) {
            ports.add("127.0.0.1:" + socket.getLocalPort());
            socket.close();
        }
        String url = "redlock://" + String.join(",", ports);
        assertThat(failureToConnect(url, ClientOptions.defaults().connectTimeout(Duration.ofSeconds(6))))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("connection refused at " + ports.get(0))
                .hasMessageContaining("connection refused at " + ports.get(2))
                .hasMessageNotContaining("null");
    }
}
