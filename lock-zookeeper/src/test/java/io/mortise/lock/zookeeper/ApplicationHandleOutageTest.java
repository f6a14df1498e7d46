// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that no lock node outlives its lease on the application's own handle after an outage. */
@Tag("once")
@SuppressWarnings("NullAway") // each test sets the fields
class ApplicationHandleOutageTest {
    private static final ClientOptions SHORT_REQUESTS = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));

    private final Queue<WatchedEvent> defaultEvents = new ConcurrentLinkedQueue<>();
    private ZooKeeperTestServer server;
    private TcpProxy proxy;
    private ZooKeeper handle;

    @BeforeEach
    void start() {
        server = ZooKeeperTestServer.start();
        proxy = TcpProxy.to("127.0.0.1", server.port());
    }

    @AfterEach
    void stop() throws Exception {
        handle.close();
        proxy.close();
        server.close();
    }

    private LockClient client(Duration session) throws Exception {
        handle = new ZooKeeper(proxy.address(), Math.toIntExact(session.toMillis()), defaultEvents::add);
        return ZooKeeperLocks.connect(ZooKeeperOptions.using(() -> handle), SHORT_REQUESTS);
    }

    private void assertFreeForOthers(String lock) throws Exception {
        try (LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20))) {
            assertThat(other.named(lock).tryAcquire(Duration.ofSeconds(15))).isPresent();
        }
        assertThat(handle.getState().isAlive()).isTrue();
    }

    @Test
    void S08_S16_aNodeLeftByACloseDuringAnOutageIsDeletedWhenTheHandleReconnects() throws Exception {
        LockClient client = client(Duration.ofSeconds(20));
        client.named("left").acquire();
        proxy.cut();
        client.close();
        Await.until(
                "the handle has noticed the cut",
                ZooKeeperTestSupport.SOON,
                () -> !handle.getState().isConnected());
        proxy.heal();
        assertFreeForOthers("left");
    }

    @Test
    void S08_aNodeWhoseLeaseWasLostInALongOutageIsDeletedWhenTheHandleReconnects() throws Exception {
        try (LockClient client = client(Duration.ofSeconds(5))) {
            Lease lease = client.named("left").acquire();
            proxy.blackHole();
            server.stop();
            long stopped = System.nanoTime();
            // Longer than any cleanup of the core, so that the core has given up.
            Await.until("the outage is long", ZooKeeperTestSupport.SOON, () -> {
                if (proxy.connections() > 0) {
                    // Otherwise ZooKeeper's client would reach no server for so long that it gives up its session.
                    proxy.resetConnections();
                }
                return System.nanoTime() - stopped > 9_000_000_000L;
            });
            assertThat(lease.lost()).isDone();
            server.restart();
            proxy.heal();
            assertFreeForOthers("left");
        }
    }

    @Test
    void aWaiterThatGivesUpDuringAnOutageTakesNoEventFromTheApplication() throws Exception {
        try (LockClient client = client(Duration.ofSeconds(20));
                LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20))) {
            Lease held = other.named("busy").acquire();
            CompletableFuture<Lease> waiter = client.named("busy").acquireAsync();
            ZooKeeperTestSupport.awaitWaiters(other, "busy", 1);
            Await.until("all watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() >= 4);
            proxy.blackHole();
            waiter.cancel(true);
            proxy.resetConnections();
            proxy.heal();
            Await.until(
                    "the waiter's node is deleted",
                    ZooKeeperTestSupport.SOON,
                    () -> server.liveEphemerals().size() == 1);
            Await.until(
                    "the application's own watcher is notified",
                    ZooKeeperTestSupport.SOON,
                    () -> defaultEvents.stream().anyMatch(event -> event.getState() == KeeperState.Disconnected));
            held.close();
        }
    }

    @Test
    void aNewSessionOnTheSameHandleIsStillNotifiedOfItsStates() throws Exception {
        handle = new ZooKeeper(proxy.address(), 20_000, defaultEvents::add);
        AtomicReference<ZooKeeperBackend> backend = new AtomicReference<>();
        try (LockClient client = BackendClients.open(
                        context -> {
                            backend.set(ZooKeeperBackend.open(ZooKeeperOptions.using(() -> handle), context));
                            return backend.get();
                        },
                        SHORT_REQUESTS);
                LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20))) {
            Lease held = other.named("busy").acquire();
            CompletableFuture<Lease> waiter = client.named("busy").acquireAsync();
            ZooKeeperTestSupport.awaitWaiters(other, "busy", 1);
            ZooKeeperSession first = backend.get().session();
            first.end("as abandon() does");
            Await.until(
                    "a new session is connected",
                    ZooKeeperTestSupport.SOON,
                    () -> backend.get().session().connection() > 0);
            ZooKeeperTestSupport.awaitWaiters(other, "busy", 1);
            waiter.cancel(true);
            ZooKeeperTestSupport.awaitWaiters(other, "busy", 0);
            held.close();
            long before = backend.get().session().connection();
            proxy.resetConnections();
            Await.until(
                    "the new session saw the reconnect",
                    ZooKeeperTestSupport.SOON,
                    () -> backend.get().session().connection() > before);
        }
    }
}
