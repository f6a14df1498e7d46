// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.process.TestCertificateGenerator;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests that {@code connect} waits for a server that may be about to start, and fails at once if waiting cannot help. */
@Tag("once")
@Execution(ExecutionMode.CONCURRENT)
class ZooKeeperConnectTest {
    /** Long enough that each server is probed before, even if this machine stalls. */
    private static final Duration CONNECT = Duration.ofSeconds(6);

    private static final ClientOptions SHORT_CONNECT = ClientOptions.defaults().connectTimeout(CONNECT);
    private static final ClientOptions LONG_CONNECT = ClientOptions.defaults().connectTimeout(Duration.ofMinutes(5));

    private static final String KEYS = "zookeeper.ssl.keyStore.";

    /** The system properties of the server with TLS, which reads them for each connection. */
    private static final Map<String, String> SETTINGS = Map.of(
            ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY,
            NettyServerCnxnFactory.class.getName(),
            KEYS + "password",
            TestCertificateGenerator.PASSWORD,
            "zookeeper.ssl.clientAuth",
            "none");

    @TempDir
    private static Path dir;

    private static ZooKeeperTestServer plain;
    private static ServerCnxnFactory secure;

    @BeforeAll
    static void startServers() throws Exception {
        plain = ZooKeeperTestServer.start();
        TestCertificateGenerator.create(dir);
        SETTINGS.forEach(System::setProperty);
        System.setProperty(
                KEYS + "location", TestCertificateGenerator.store(dir).toString());
        secure = ServerCnxnFactory.createFactory();
        secure.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0, -1, true);
        Path data = Files.createDirectory(dir.resolve("data"));
        secure.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
    }

    @AfterAll
    static void stopServers() {
        SETTINGS.keySet().forEach(System::clearProperty);
        System.clearProperty(KEYS + "location");
        plain.close();
        secure.shutdown();
    }

    private static String securePort() {
        return "127.0.0.1:" + secure.getLocalPort();
    }

    private static void assertUnavailable(String endpoint, String why) {
        long start = System.nanoTime();
        Throwable error = catchThrowable(() -> Locks.connect("zookeeper://" + endpoint + "/base", SHORT_CONNECT));
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertThat(error)
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContainingAll(endpoint, "6000 ms", why)
                .hasNoCause();
        assertThat(took).isBetween(CONNECT, CONNECT.plusSeconds(4));
    }

    private static void assertRefused(String url, String... why) {
        assertThat(catchThrowable(() -> Locks.connect(url, LONG_CONNECT)))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContainingAll(why);
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    @Test
    void S15_aPortWithoutListenerIsReportedAtTheTimeout() throws Exception {
        assertUnavailable("127.0.0.1:" + freePort(), "refuses connections");
    }

    @Test
    void S15_anUnknownHostIsReportedAtTheTimeout() {
        assertUnavailable("no-such-host.invalid:2181", "cannot be resolved");
    }

    @Test
    void S15_aBlackHoledServerIsReportedAtTheTimeout() {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", plain.port())) {
            proxy.blackHole();
            assertUnavailable(proxy.address(), "no answer");
        }
    }

    @Test
    void S15_aServerThatNeverRespondsIsReportedAtTheTimeout() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            assertUnavailable("127.0.0.1:" + silent.getLocalPort(), "no answer");
        }
    }

    @Test
    void S15_connectWaitsForAServerThatStartsLate() throws Exception {
        try (ZooKeeperTestServer late = ZooKeeperTestServer.start()) {
            late.stop();
            CompletableFuture<LockClient> connect = CompletableFuture.supplyAsync(
                    () -> Locks.connect("zookeeper://" + late.connectString(), LONG_CONNECT));
            CompletableFuture<Throwable> failure = CompletableFuture.supplyAsync(
                    () -> catchThrowable(() -> Locks.connect("zookeeper://" + late.connectString(), SHORT_CONNECT)));
            assertThat(failure.get(30, TimeUnit.SECONDS)).hasMessageContaining("refuses connections");
            late.restart();
            connect.get(30, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S15_plaintextOnATlsPortFailsAtOnce() {
        assertRefused("zookeeper://" + securePort(), securePort() + " speaks TLS", "zookeeper.client.secure=true");
    }

    @Test
    void S15_tlsOnAPlaintextPortFailsAtOnce() throws Exception {
        assertRefused(
                "zookeeper://" + plain.connectString() + "?clientConfig="
                        + tls(TestCertificateGenerator.certificate(dir)),
                plain.connectString() + " does not speak TLS");
    }

    @Test
    void S15_anUntrustedCertificateFailsAtOnce() throws Exception {
        Path other = Files.createDirectory(dir.resolve("other"));
        TestCertificateGenerator.create(other);
        assertRefused(
                "zookeeper://" + securePort() + "?clientConfig=" + tls(TestCertificateGenerator.certificate(other)),
                securePort() + " fails the TLS handshake",
                "PKIX");
    }

    @Test
    void S15_anUnreadableTrustStoreFailsAtOnce() throws Exception {
        assertRefused(
                "zookeeper://" + securePort() + "?clientConfig=" + tls(dir.resolve("none.crt")),
                "TLS could not be set up",
                "none.crt");
    }

    /** The server that is down may be about to start. The client tries one a second; a slow machine takes longer to try both. */
    @Test
    void S15_connectWaitsForAServerThatIsDownEvenIfAnotherFailsPermanently() throws Exception {
        // No handshake is needed to find this obstacle: it would take a starved machine longer than a probe may take.
        String both = "127.0.0.1:" + freePort() + "," + plain.connectString() + "?clientConfig="
                + tls(dir.resolve("none.crt"));
        Duration timeout = Duration.ofSeconds(2);
        Throwable error;
        do {
            timeout = timeout.multipliedBy(2);
            assertThat(timeout).as("until it has met both").isLessThan(ZooKeeperTestSupport.SOON);
            ClientOptions options = ClientOptions.defaults().connectTimeout(timeout);
            error = catchThrowable(() -> Locks.connect("zookeeper://" + both, options));
            assertThat(error)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("refuses connections");
        } while (!error.toString().contains("TLS could not be set up"));
    }

    @Test
    void locksWorkOverTls() throws Exception {
        ClientOptions coldStart =
                ClientOptions.defaults().connectTimeout(Duration.ofSeconds(50)); // two TLS stacks, on a busy machine
        try (LockClient client = Locks.connect(
                        "zookeeper://" + securePort() + "?clientConfig="
                                + tls(TestCertificateGenerator.certificate(dir)),
                        coldStart);
                Lease lease = client.named("n").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(ZooKeeperTestSupport.diagnosisOfRunningServers(client))
                    .noneMatch(finding -> finding.what().contains("does not answer"));
        }
    }

    private static Path tls(Path trusted) throws IOException {
        Path file = Files.createTempFile(dir, "client", ".cfg");
        return Files.writeString(
                file,
                String.join(
                        "\n",
                        "zookeeper.client.secure=true",
                        "zookeeper.clientCnxnSocket=ClientCnxnSocketNetty",
                        "zookeeper.ssl.trustStore.location=" + trusted,
                        "zookeeper.ssl.trustStore.type=PEM"));
    }
}
