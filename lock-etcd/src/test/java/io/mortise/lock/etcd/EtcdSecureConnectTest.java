// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests connections to a server that uses TLS and requires a password, but no client certificate. */
@Tag("once")
class EtcdSecureConnectTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final ClientOptions LONG_TIMEOUT = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));
    private static final String PASSWORD = "s3cret";
    private static EtcdTestServer server;

    @BeforeAll
    static void startServer() {
        server = EtcdTestServer.start(EtcdServerOptions.defaults().withTls().withRootPassword(PASSWORD));
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    private static void assertWorks(LockClient client) throws Exception {
        try (client;
                Lease lease = client.named("x").acquire()) {
            assertThat(client.named("x").tryAcquire()).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void S19_connectsByTlsWithAPasswordAndNoClientCertificate() throws Exception {
        assertWorks(Locks.connect(server.tlsUrl() + "?ca=" + server.certificate(), LONG_TIMEOUT));
    }

    /**
     * jetcd fetches a token on the thread of a request that has none, and receives it on the Vert.x context of that thread,
     * which here waits for the client. The first request of the session is delayed until a token has been requested.
     */
    @Test
    void S15_theFirstTokenIsNotFetchedOnTheApplicationsThread() throws Exception {
        Wire wire = new Wire();
        wire.before(
                "LeaseGrant",
                () -> Await.until(
                        "a token was requested", SOON, () -> wire.counts().containsKey("Authenticate")));
        EtcdOptions options = EtcdOptions.connectTo(List.of("127.0.0.1:" + server.port()))
                .credentials("root", PASSWORD)
                .interceptors(List.of(wire));
        Vertx vertx = Vertx.vertx(new VertxOptions().setUseDaemonThread(true));
        CompletableFuture<Boolean> worked = new CompletableFuture<>();
        try {
            vertx.getOrCreateContext().runOnContext(start -> {
                try {
                    assertWorks(EtcdLocks.connect(options, LONG_TIMEOUT));
                    worked.complete(true);
                } catch (Exception e) {
                    worked.completeExceptionally(e);
                }
            });
            assertThat(worked.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(wire.counts()).containsEntry("Authenticate", 1);
        } finally {
            vertx.close();
        }
    }

    /** Lets the server forget all tokens, as by a restart. */
    private static void forgetTokens() throws Exception {
        try (Client root = Client.builder()
                        .endpoints(server.endpoint())
                        .user(EtcdKeyLayout.bytes("root"))
                        .password(EtcdKeyLayout.bytes(PASSWORD))
                        .build();
                Client anybody = Client.builder().endpoints(server.endpoint()).build()) {
            root.getAuthClient().authDisable().get(10, TimeUnit.SECONDS);
            anybody.getAuthClient().authEnable().get(10, TimeUnit.SECONDS);
        }
    }

    /** Each login costs the server a password hash. */
    @Test
    void S15_aBurstOfRequestsWithAnOldTokenDoesNotLogInForEach() throws Exception {
        Wire wire = new Wire();
        EtcdOptions options = EtcdOptions.connectTo(List.of("127.0.0.1:" + server.port()))
                .credentials("root", PASSWORD)
                .interceptors(List.of(wire));
        try (LockClient client = EtcdLocks.connect(options, LONG_TIMEOUT)) {
            LockAdmin admin = client.admin().orElseThrow();
            forgetTokens();
            wire.reset();
            List<CompletableFuture<LockStatus>> burst = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                burst.add(admin.status("x"));
            }
            for (CompletableFuture<LockStatus> each : burst) {
                assertThat(each.get(30, TimeUnit.SECONDS).holders()).isEmpty();
            }
            assertThat(wire.counts().get("Authenticate")).isBetween(1, 10);
        }
    }
}
