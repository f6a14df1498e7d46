// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that watches and renewals of many locks work on a server that allows few concurrent streams on a connection. Many
 * proxies have such a limit.
 */
@Tag("once")
class EtcdStreamsTest {
    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int LOCKS = 200;
    private static EtcdTestServer server;

    private final Wire wire = new Wire();
    private OneNamespace namespace;

    @BeforeAll
    static void startServer() {
        server = EtcdTestServer.start(EtcdServerOptions.defaults().withArguments("--max-concurrent-streams", "20"));
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void newNamespace() {
        namespace = OneNamespace.on(server);
    }

    private EtcdOptions options(int port) {
        return EtcdOptions.connectTo(List.of("127.0.0.1:" + port))
                .namespace(namespace.name())
                .leaseDuration(LEASE);
    }

    private static List<Lease> hold(LockClient client, String prefix) throws InterruptedException {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            held.add(client.named(prefix + i).acquire());
        }
        return held;
    }

    private static List<CompletableFuture<Lease>> await(LockClient client, String prefix) {
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            waiting.add(client.named(prefix + i).acquireAsync());
        }
        return waiting;
    }

    private static void assertAllAreHandedOff(List<Lease> held, List<CompletableFuture<Lease>> waiting)
            throws Exception {
        for (Lease lease : held) {
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        for (CompletableFuture<Lease> one : waiting) {
            assertThat(one.get(30, TimeUnit.SECONDS).isHeld()).isTrue();
        }
    }

    @Test
    void S07_S11_manyHeldAndAwaitedLocksNeedOneStreamAndAreRenewed() throws Exception {
        try (LockClient other = EtcdLocks.connect(options(server.port()));
                LockClient client = EtcdLocks.connect(options(server.port()).interceptors(List.of(wire)))) {
            List<Lease> others = hold(other, "other");
            List<Lease> held = hold(client, "own");
            List<CompletableFuture<Lease>> waiting = await(client, "other");
            Await.until("all are watched", SOON, () -> wire.watching() == 1 + 2 * LOCKS);
            long renewals = renewals();
            assertThat(Await.holdsWithin(
                            LEASE.multipliedBy(2),
                            () -> !held.stream().allMatch(Lease::isHeld)
                                    || !others.stream().allMatch(Lease::isHeld)))
                    .as("lost")
                    .isFalse();
            assertThat(renewals() - renewals).as("renewals of two clients").isGreaterThan(8);
            assertThat(wire.streams()).isEqualTo(1);
            assertAllAreHandedOff(others, waiting);
            assertThat(held).allMatch(Lease::isHeld);
        }
    }

    private long renewals() {
        return namespace.raw().requests().getOrDefault("LeaseKeepAlive", 0L);
    }

    @Test
    void S07_S11_aBrokenConnectionLosesNoLeaseAndAllAreWatchedAgain() throws Exception {
        try (TcpProxy link = TcpProxy.to("127.0.0.1", server.port());
                LockClient other = EtcdLocks.connect(options(server.port()));
                LockClient client = EtcdLocks.connect(options(link.port()).interceptors(List.of(wire)))) {
            List<Lease> others = hold(other, "other");
            List<Lease> held = hold(client, "own");
            List<CompletableFuture<Lease>> waiting = await(client, "other");
            Await.until("all are watched", SOON, () -> wire.watching() == 1 + 2 * LOCKS);
            link.resetConnections();
            Await.until("there is another stream", SOON, () -> wire.counts().getOrDefault("Watch", 0) > 1);
            Await.until("all are watched again", SOON, () -> wire.watching() == 1 + 2 * LOCKS);
            assertThat(wire.streams()).isEqualTo(1);
            assertAllAreHandedOff(others, waiting);
            assertThat(held).allMatch(Lease::isHeld);
        }
    }
}
