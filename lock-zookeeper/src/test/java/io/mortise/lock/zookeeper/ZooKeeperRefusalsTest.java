// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.zookeeper.ZooKeeperServerOptions;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that requests that the server refuses or ignores fail in time with a clear error. */
@Tag("once")
class ZooKeeperRefusalsTest {
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final Duration CONNECT = Duration.ofMillis(1500);
    private static final ClientOptions SHORT_CONNECT = ClientOptions.defaults().connectTimeout(CONNECT);
    private static final String SECRET = "s3cr3t";

    private static ZooKeeperTestServer server;

    @BeforeAll
    static void startServer() {
        server = ZooKeeperTestServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    private static String url(String userInfo, String rest) {
        return "zookeeper://" + userInfo + server.connectString() + rest;
    }

    @Test
    void aMissingChrootIsRefusedAndNamed() {
        assertThatThrownBy(() -> Locks.connect(url("", "/base?chroot=/no/such")))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContainingAll("chroot", "/no/such", server.connectString());
    }

    @Test
    void anExistingChrootIsUsed() throws Exception {
        try (ZooKeeper plain = ZooKeeperTestSupport.openHandle(server.connectString())) {
            ZooKeeperTestSupport.createPath(plain, "/apps/x");
            try (LockClient client = Locks.connect(url("", "/base?chroot=/apps/x"));
                    Lease lease = client.named("n").acquire()) {
                assertThat(plain.getChildren("/apps/x/base/n", false)).hasSize(1);
                assertThat(lease.isHeld()).isTrue();
            }
        }
    }

    private static String protectedBase(String name, int permsOfOthers) throws Exception {
        Id owner = new Id("digest", DigestAuthenticationProvider.generateDigest("ann:" + SECRET));
        List<ACL> acl = new ArrayList<>(List.of(new ACL(ZooDefs.Perms.ALL, owner)));
        if (permsOfOthers != 0) {
            acl.add(new ACL(permsOfOthers, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        }
        try (ZooKeeper plain = ZooKeeperTestSupport.openHandle(server.connectString())) {
            return plain.create("/" + name, new byte[0], acl, CreateMode.PERSISTENT);
        }
    }

    private static void assertRefusedWithoutSecrets(Throwable error) {
        assertThat(error).isInstanceOf(BackendRefusedException.class).hasMessageContainingAll("NOAUTH", "credentials");
        for (Throwable at = error; at != null; at = at.getCause()) {
            assertThat(at.toString()).doesNotContain(SECRET).doesNotContain("wr0ng");
        }
    }

    @Test
    void aWrongPasswordIsRefusedAtConnectIfTheBasePathIsUnreadable() throws Exception {
        String base = protectedBase("closed", 0);
        assertRefusedWithoutSecrets(catchThrowable(() -> Locks.connect(url("ann:wr0ng@", base))));
        try (LockClient client = Locks.connect(url("ann:" + SECRET + "@", base));
                Lease lease = client.named("n").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void aWrongPasswordIsRefusedAtTheFirstAcquireIfTheBasePathIsReadable() throws Exception {
        String base = protectedBase("shown", ZooDefs.Perms.READ);
        try (LockClient client = Locks.connect(url("ann:wr0ng@", base))) {
            assertRefusedWithoutSecrets(catchThrowable(() -> client.named("n").acquire()));
            assertRefusedWithoutSecrets(catchThrowable(() -> client.named("n").tryAcquire()));
            assertRefusedWithoutSecrets(catchThrowable(() -> client.named("n").tryAcquire(Duration.ofSeconds(5))));
        }
        assertThat(server.liveEphemerals()).isEmpty();
    }

    @Test
    void onlyTheNextPredecessorMustBeReadable() throws Exception {
        try (LockClient client = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
                ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString())) {
            operator.addAuthInfo("digest", ("ann:" + SECRET).getBytes(StandardCharsets.UTF_8));
            for (boolean inOrder : List.of(true, false)) {
                String lock = "unreadable-" + inOrder;
                int watchesBefore = server.watchCount();
                ZooKeeperTestSupport.createPath(operator, ZooKeeperTestSupport.lockNode(lock));
                String further = queueForeignNode(operator, lock, ZooDefs.Ids.CREATOR_ALL_ACL);
                String next = queueForeignNode(operator, lock, ZooDefs.Ids.OPEN_ACL_UNSAFE);
                CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
                Await.until(
                        "two watches are registered",
                        ZooKeeperTestSupport.SOON,
                        () -> server.watchCount() == watchesBefore + 2);
                Map<String, Long> before = server.requests();
                operator.delete(inOrder ? further : next, -1);
                if (inOrder) {
                    operator.delete(next, -1);
                    ZooKeeperTestSupport.woken(waiter).close();
                    assertThat(ZooKeeperTestSupport.sent(server, before))
                            .isEqualTo(Map.of("delete", 3L, "getChildren", 1L));
                } else {
                    Throwable refused = catchThrowable(() -> ZooKeeperTestSupport.woken(waiter));
                    assertRefusedWithoutSecrets(Objects.requireNonNull(refused.getCause()));
                    operator.delete(further, -1);
                }
            }
        }
    }

    private static String queueForeignNode(ZooKeeper operator, String lock, List<ACL> acl) throws Exception {
        return operator.create(
                ZooKeeperTestSupport.lockNode(lock) + "/theirs-lock-",
                new byte[0],
                acl,
                CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    /** The server assigns 2³¹ - 1 again and again, so that two contenders with this number may each find themselves the first. */
    @Test
    void S01_sequenceNumbersThatHaveRunOutGrantNothingUntilTheLockNodeIsReplaced() throws Exception {
        String lock = "worn";
        String lockNode = ZooKeeperTestSupport.lockNode(lock);
        try (LockClient client = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
                ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString())) {
            Lease holder = client.named(lock).acquire();
            server.setNextSequenceNumber(lockNode, Integer.MAX_VALUE);
            for (int i = 0; i < 2; i++) {
                String theirs = queueForeignNode(operator, lock, ZooDefs.Ids.OPEN_ACL_UNSAFE);
                assertThat(theirs).endsWith("2147483647");
                operator.delete(theirs, -1);
            }
            assertThatThrownBy(() -> client.named(lock).tryAcquire(ZooKeeperTestSupport.AT_ONCE))
                    .isInstanceOf(BackendRefusedException.class)
                    .hasMessageContainingAll(lock, "used up its sequence numbers");
            assertThat(holder.isHeld()).isTrue();
            ZooKeeperTestSupport.awaitNodes(operator, lock, 1);
            holder.close();
            assertThat(catchThrowable(() -> client.named(lock).tryAcquire(ZooKeeperTestSupport.AT_ONCE)))
                    .isInstanceOf(BackendRefusedException.class);
            try (Lease next = client.named(lock).acquire()) {
                assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
            }
        }
    }

    @Test
    void failedAuthenticationFailsTheConnectAtOnce() {
        ZooKeeperOptions unknownScheme = ZooKeeperTestSupport.options(server.connectString(), SESSION)
                .auth("no-such-scheme", SECRET.getBytes(StandardCharsets.UTF_8));
        long start = System.nanoTime();
        assertThatThrownBy(() -> ZooKeeperLocks.connect(unknownScheme))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContainingAll(server.connectString(), "authentication failed")
                .hasMessageNotContaining(SECRET);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.AT_ONCE);
    }

    @Test
    void failedAuthenticationEndsTheSessionAndItsLeases() throws Exception {
        try (LockClient client = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION)) {
            Lease lease = client.named("later").acquire();
            CompletableFuture<Lease> waiter = client.named("later").acquireAsync();
            ZooKeeperTestSupport.awaitWaiters(client, "later", 1);
            // Simulates a server that no longer accepts the client's credentials.
            ZooKeeper handle =
                    lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow().zooKeeper();
            handle.addAuthInfo("no-such-scheme", new byte[0]);
            assertThat(lease.lost().get(5, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.SESSION_ENDED);
            // The client's configured credentials are valid, so its next session gets the lock.
            try (Lease next = waiter.get(SESSION.toSeconds() + 5, TimeUnit.SECONDS)) {
                assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            }
        }
    }

    /** The last byte of the connect request says whether the client accepts a read-only server. */
    @Test
    void readOnlyServersAreNotUsed() throws Exception {
        try (ServerSocket fake = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Throwable> connect = CompletableFuture.supplyAsync(() ->
                    catchThrowable(() -> Locks.connect("zookeeper://127.0.0.1:" + fake.getLocalPort(), SHORT_CONNECT)));
            try (Socket client = fake.accept()) {
                DataInputStream in = new DataInputStream(client.getInputStream());
                byte[] request = in.readNBytes(in.readInt());
                assertThat(request[request.length - 1]).isZero();
            }
            assertThat(connect.get(10, TimeUnit.SECONDS)).isInstanceOf(BackendUnavailableException.class);
        }
    }

    @Test
    void aLeaseDurationForOneLockIsRefused() {
        try (LockClient client = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION)) {
            LockOptions own = LockOptions.defaults().leaseDuration(Duration.ofSeconds(5));
            assertThatThrownBy(() -> client.named("n", own))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("leaseDuration is PT5S", "session of PT10S");
        }
    }

    @Test
    void S14_theNegotiatedTimeoutIsUsed() throws Exception {
        ZooKeeperServerOptions slow =
                ZooKeeperServerOptions.defaults().withSessions(Duration.ofSeconds(8), Duration.ofSeconds(12));
        try (ZooKeeperTestServer bounded = ZooKeeperTestServer.start(slow)) {
            assertNegotiated(bounded, Duration.ofSeconds(1), 8);
            assertNegotiated(bounded, Duration.ofSeconds(60), 12);
        }
    }

    private static void assertNegotiated(ZooKeeperTestServer bounded, Duration requested, int seconds)
            throws Exception {
        try (LockClient client = ZooKeeperTestSupport.connectClient(bounded.connectString(), requested)) {
            LockOptions own = LockOptions.defaults().leaseDuration(Duration.ofSeconds(5));
            assertThatThrownBy(() -> client.named("n", own)).hasMessageContaining("session of PT" + seconds + "S");
            try (Lease lease = client.named("n").acquire()) {
                Duration most = Duration.ofMillis(seconds * 750L);
                assertThat(lease.remaining()).isBetween(Duration.ofSeconds(1), most);
            }
            assertThat(ZooKeeperTestSupport.diagnosis(client))
                    .anyMatch(finding -> finding.what().contains("PT" + seconds + "S")
                            && finding.what().contains(requested.toString()));
        }
    }

    @Test
    void S15_anAcquireOnABlackHoledConnectionFailsInTimeAndNamesTheServer() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", server.port());
                LockClient client = ZooKeeperLocks.connect(
                        ZooKeeperTestSupport.options(proxy.address(), SESSION),
                        ClientOptions.defaults()
                                .requestTimeout(Duration.ofSeconds(1))
                                .unavailableAfter(Duration.ofSeconds(2)))) {
            proxy.blackHole();
            long start = System.nanoTime();
            assertThatThrownBy(() -> client.named("silent").acquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining(proxy.address());
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            proxy.heal();
        }
        Await.until(
                "no node is left",
                ZooKeeperTestSupport.SOON,
                () -> server.liveEphemerals().isEmpty());
    }
}
