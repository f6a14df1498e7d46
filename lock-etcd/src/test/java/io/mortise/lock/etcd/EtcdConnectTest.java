// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.GetOption;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.spi.LockUrl;
import io.mortise.lock.testkit.process.Await;
import io.netty.handler.ssl.SslContext;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests opening and closing clients: TLS, users, application-supplied clients, and unreachable servers. */
@Tag("once")
class EtcdConnectTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final ClientOptions SHORT_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofMillis(600));
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));
    private static EtcdTestServer open;
    private static EtcdTestServer guarded;

    @BeforeAll
    static void startServers() {
        open = EtcdTestServer.start(EtcdServerOptions.defaults().withClientCertificates());
        guarded = EtcdTestServer.start(EtcdServerOptions.defaults().withRootPassword("not to be printed"));
        guarded.addUser("lena", "lenas secret", "mortise/");
    }

    @AfterAll
    static void stopServers() {
        guarded.close();
        open.close();
    }

    private static void assertWorks(LockClient client) throws Exception {
        try (client;
                Lease lease = client.named("x").acquire()) {
            assertThat(client.named("x").tryAcquire()).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    private String guarded(String user) {
        return "etcd://" + user + "@127.0.0.1:" + guarded.port();
    }

    @Test
    void connectsByTlsWithAClientCertificate() throws Exception {
        assertWorks(Locks.connect(
                open.tlsUrl() + "?ca=" + open.certificate() + "&cert=" + open.clientCertificate() + "&key="
                        + open.clientKey(),
                LONG_TIMEOUTS));
    }

    @Test
    void certificatesAreReadAgainForTheNextClient(@TempDir Path dir) throws Exception {
        Path ca = Files.copy(open.certificate(), dir.resolve("ca.pem"));
        Supplier<SslContext> tls = EtcdProvider.options(LockUrl.parse(open.tlsUrl() + "?ca=" + ca))
                .settings()
                .tls()
                .orElseThrow();
        assertThat(tls.get()).isNotNull();
        Files.writeString(ca, "half of a renewed certificate");
        assertThatThrownBy(tls::get).hasMessageContaining("ca, cert or key cannot be used");
    }

    @Test
    void S15_anUntrustedCertificateIsRefusedAtOnce() {
        long start = System.nanoTime();
        assertThatThrownBy(() -> Locks.connect(open.tlsUrl(), LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("TLS");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void S15_tlsOnOnlyOneSideIsRefusedAtOnce() {
        String plain = open.endpoint().replace("http://", "");
        String secured = open.tlsEndpoint().replace("https://", "");
        long start = System.nanoTime();
        assertThatThrownBy(() -> Locks.connect("etcds://" + plain, LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining(plain + " does not speak TLS");
        assertThatThrownBy(() -> Locks.connect("etcd://" + secured, LONG_TIMEOUTS))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining(secured + " speaks TLS");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONG_TIMEOUTS.connectTimeout());
    }

    @Test
    void S19_aUserWithAccessToItsNamespaceOnlyCanConnect() throws Exception {
        assertWorks(Locks.connect(guarded("lena:lenas%20secret")));
        assertThatThrownBy(() -> Locks.connect(guarded("lena:lenas%20secret") + "?namespace=theirs/"))
                .isInstanceOf(BackendRefusedException.class);
    }

    @Test
    void S15_S19_wrongCredentialsAreRefusedAtOnceAndNotPrinted() {
        assertThatThrownBy(() -> Locks.connect(guarded("lena:wr0ng")))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("127.0.0.1:" + guarded.port())
                .hasMessageNotContaining("wr0ng");
        assertThatThrownBy(() -> Locks.connect("etcd://127.0.0.1:" + guarded.port()))
                .isInstanceOf(BackendRefusedException.class);
    }

    @Test
    void S15_aMissingServerIsReportedAfterTheConnectTimeout() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        long start = System.nanoTime();
        assertThatThrownBy(() -> Locks.connect("etcd://127.0.0.1:" + port, SHORT_TIMEOUTS))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("127.0.0.1:" + port);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(500), Duration.ofSeconds(30));
    }

    @Test
    void S15_aServerThatDoesNotRespondIsReportedAfterTheConnectTimeout() throws Exception {
        try (ServerSocket silent = new ServerSocket(0)) {
            assertThatThrownBy(() -> Locks.connect("etcd://127.0.0.1:" + silent.getLocalPort(), SHORT_TIMEOUTS))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + silent.getLocalPort());
        }
    }

    @Test
    void anIpv6AddressIsReached() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getAllByName("::1")[0])) {
            silent.setSoTimeout(10_000);
            CompletableFuture<Boolean> reached = CompletableFuture.supplyAsync(() -> {
                try (Socket accepted = silent.accept()) {
                    return accepted.isConnected();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertThatThrownBy(() -> Locks.connect(
                            "etcd://[::1]:" + silent.getLocalPort(),
                            ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5))))
                    .isInstanceOf(BackendUnavailableException.class);
            assertThat(reached.get(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    /**
     * jetcd binds its callbacks to the context of the thread that uses a client first; here that thread waits for them.
     */
    @Test
    void S15_aClientCanBeOpenedOnAVertxThread() throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setUseDaemonThread(true));
        try (Client supplied = Client.builder().endpoints(open.endpoint()).build()) {
            for (EtcdOptions options :
                    List.of(EtcdOptions.connectTo(List.of("127.0.0.1:" + open.port())), EtcdOptions.using(supplied))) {
                CompletableFuture<Boolean> worked = new CompletableFuture<>();
                vertx.getOrCreateContext().runOnContext(start -> {
                    try {
                        assertWorks(EtcdLocks.connect(
                                options, ClientOptions.defaults().connectTimeout(SOON)));
                        worked.complete(true);
                    } catch (Exception e) {
                        worked.completeExceptionally(e);
                    }
                });
                assertThat(worked.get(30, TimeUnit.SECONDS)).isTrue();
            }
        } finally {
            vertx.close();
        }
    }

    /** The namespace of the application's client precedes Mortise's. */
    @Test
    void anApplicationSuppliedClientIsUsedAndLeftOpen() throws Exception {
        try (Client supplied = Client.builder()
                .endpoints(open.endpoint())
                .namespace(EtcdKeyLayout.bytes("ours/"))
                .build()) {
            LockClient client = EtcdLocks.connect(EtcdOptions.using(supplied));
            try (Lease lease = client.named("x").acquire();
                    LockClient other = Locks.connect(open.url() + "?namespace=ours/mortise/")) {
                assertThat(other.named("x").tryAcquire()).isEmpty();
                assertThat(lease.isHeld()).isTrue();
            }
            client.close();
            assertThat(supplied.getKVClient()
                            .get(
                                    EtcdKeyLayout.bytes("mortise/"),
                                    GetOption.builder().isPrefix(true).build())
                            .get(5, TimeUnit.SECONDS)
                            .getKvs())
                    .isEmpty();
        }
    }

    /** gRPC's own threads serve all channels of the JVM, and end by themselves. */
    @Test
    void S16_aClosedClientLeavesNoThreads() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        assertWorks(Locks.connect(open.url()));
        Await.until(
                "its threads end",
                SOON,
                () -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName)
                        .noneMatch(name ->
                                name.startsWith("mortise") || name.startsWith("jetcd") || name.startsWith("grpc")));
    }

    /** The outage is longer than gRPC's own connect timeout. */
    @Test
    void S15_aServerThatComesBackIsFoundQuickly() throws Exception {
        try (EtcdTestServer server =
                        EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData());
                LockClient client = Locks.connect(server.url() + "?lease=2s")) {
            server.stop();
            assertThat(Await.holdsWithin(Duration.ofSeconds(8), () -> false)).isFalse();
            server.restart();
            long back = System.nanoTime();
            client.named("x").tryAcquire(Duration.ofSeconds(20)).orElseThrow().close();
            assertThat(Duration.ofNanos(System.nanoTime() - back)).isLessThan(Duration.ofSeconds(8));
        }
    }
}
