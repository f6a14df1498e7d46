// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests sessions that end early, and acquires that start before the next session is ready. */
@Tag("once")
class ZooKeeperNewSessionTest {
    private ZooKeeperTestServer server;
    private TcpProxy proxy;

    @BeforeEach
    void start() {
        server = ZooKeeperTestServer.start();
        proxy = TcpProxy.to("127.0.0.1", server.port());
    }

    @AfterEach
    void stop() {
        proxy.close();
        server.close();
    }

    @Test
    void S01_S02_aTimeoutThatTheServerShortensOnAReconnectEndsTheSession() throws Exception {
        try (LockClient client = ZooKeeperTestSupport.connectClient(proxy.address(), Duration.ofSeconds(20));
                LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20))) {
            Lease lease = client.named("short").acquire();
            CompletableFuture<Lease> waiter = other.named("short").acquireAsync();
            ZooKeeperTestSupport.awaitWaiters(other, "short", 1);
            server.limitSessionTimeout(Duration.ofSeconds(4));
            proxy.resetConnections();
            LossReason reason = lease.lost().get(10, TimeUnit.SECONDS);
            assertThat(reason.kind()).isEqualTo(LossReason.Kind.SESSION_ENDED);
            assertThat(reason.detail()).contains("shortened", "PT4S");
            assertThat(lease.isHeld()).isFalse();
            assertThat(waiter.get(10, TimeUnit.SECONDS).isHeld()).isTrue();
        }
    }

    @Test
    void S12_acquiresBeforeTheNewSessionIsReadyAreGrantedInTheirOrder() throws Exception {
        AtomicReference<ZooKeeperBackend> backend = new AtomicReference<>();
        ZooKeeperOptions options = ZooKeeperTestSupport.options(proxy.address(), Duration.ofSeconds(20));
        try (LockClient client = BackendClients.open(
                context -> {
                    ZooKeeperBackend opened = ZooKeeperBackend.open(options, context);
                    backend.set(opened);
                    return opened;
                },
                ClientOptions.defaults())) {
            client.named("order")
                    .acquire()
                    .close(); // creates the lock node: an acquire without it takes two round trips
            ZooKeeperSession first = Objects.requireNonNull(backend.get()).session();
            proxy.delay(Duration.ofMillis(100));
            server.sessions().forEach(server::expireSession);
            // Acquires that started earlier would be refused, and retried at random times.
            Await.until("the client knows that its session ended", ZooKeeperTestSupport.SOON, first::hasEnded);
            List<CompletableFuture<Long>> tokens = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                tokens.add(client.named("order").acquireAsync().thenApply(granted -> {
                    granted.releaseAsync();
                    return granted.fencingToken();
                }));
            }
            List<Long> inOrder = new ArrayList<>();
            for (CompletableFuture<Long> token : tokens) {
                inOrder.add(token.get(20, TimeUnit.SECONDS));
            }
            assertThat(inOrder).isSorted();
        }
    }
}
