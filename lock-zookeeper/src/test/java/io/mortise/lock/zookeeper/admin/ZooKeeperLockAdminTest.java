// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperOptions;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import io.mortise.lock.zookeeper.queue.LockPathsTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the administration of locks, including queues with nodes that other libraries created. */
@Tag("once")
class ZooKeeperLockAdminTest {
    private static ZooKeeperTestServer server;
    private static ZooKeeper plain;
    private static int next;

    private final String base = "/admin-" + next++;
    private LockClient client;

    @BeforeAll
    static void startServer() throws Exception {
        server = ZooKeeperTestServer.start();
        plain = ZooKeeperTestSupport.openHandle(server.connectString());
    }

    @AfterAll
    static void stopServer() throws Exception {
        plain.close();
        server.close();
    }

    @BeforeEach
    void connect() {
        client = open();
    }

    @AfterEach
    void close() {
        client.close();
    }

    private LockClient open() {
        return ZooKeeperLocks.connect(ZooKeeperTestSupport.options(server.connectString(), Duration.ofSeconds(20))
                .basePath(base));
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private LockAdmin admin() {
        return ZooKeeperTestSupport.admin(client);
    }

    @Test
    void S18_holderAndWaitersAreShownInTheirOrder() throws Exception {
        LockOptions options = LockOptions.defaults().metadata(Map.of("job", "nightly run", "ä/%", "=\n"));
        try (LockClient other = open();
                Lease lease = client.named("n", options).acquire()) {
            List<CompletableFuture<Lease>> waiters = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                LockOptions numbered = LockOptions.defaults().metadata(Map.of("i", Integer.toString(i)));
                waiters.add((i % 2 == 0 ? client : other).named("n", numbered).acquireAsync());
                ZooKeeperTestSupport.awaitWaiters(client, "n", i + 1);
            }
            LockStatus status = ZooKeeperTestSupport.status(client, "n");
            assertThat(status.name()).isEqualTo("n");
            LockHolder holder = status.holders().get(0);
            assertThat(status.holders()).hasSize(1);
            assertThat(holder.owner()).contains(lease.ownerId());
            assertThat(holder.token()).hasValue(lease.fencingToken());
            assertThat(holder.pid()).hasValue(ProcessHandle.current().pid());
            assertThat(holder.host()).isPresent();
            assertThat(holder.since()).isPresent();
            assertThat(holder.metadata()).isEqualTo(Map.of("job", "nightly run", "ä/%", "=\n"));
            assertThat(holder.isForeign()).isFalse();
            assertThat(status.waiters())
                    .extracting(waiter -> waiter.metadata().get("i"))
                    .containsExactly("0", "1", "2", "3");
            lease.release();
            for (int i = 0; i < 4; i++) {
                Lease granted = waiters.get(i).get(10, TimeUnit.SECONDS);
                LockHolder shown =
                        ZooKeeperTestSupport.status(client, "n").holders().get(0);
                assertThat(shown.owner()).contains(granted.ownerId());
                assertThat(shown.token()).hasValue(granted.fencingToken());
                granted.close();
            }
        }
        assertThat(ZooKeeperTestSupport.status(client, "n").holders()).isEmpty();
        assertThat(ZooKeeperTestSupport.status(client, "never used").holders()).isEmpty();
    }

    @Test
    void S13_S18_oddNamesAreListedAndReadableInTheStoresOwnTools() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (String name : LockPathsTest.ODD_NAMES.stream().distinct().toList()) {
            held.add(client.named(name).acquire());
        }
        LockAdmin.Page page = get(admin().list("", 10_000, ""));
        assertThat(page.next()).isEmpty();
        assertThat(page.locks())
                .extracting(LockStatus::name)
                .containsExactlyElementsOf(new TreeSet<>(LockPathsTest.ODD_NAMES));
        for (Lease lease : held) {
            assertThat(ZooKeeperTestSupport.status(client, lease.lockName()).holders())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.owner()).contains(lease.ownerId()));
        }
        assertThat(plain.getChildren(base, false))
                .contains("a%2Fb", "%2E", "%2E.", "%7Aookeeper", "%E6%97%A5%E6%9C%AC", "%00")
                .allMatch(node -> node.matches("[A-Za-z0-9%._:@+~-]+"));
        held.forEach(Lease::close);
    }

    @Test
    void pagesAreCompleteWhateverTheirSize() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 23; i++) {
            held.add(client.named("p/" + i).acquire());
            client.named("free/" + i).acquire().close(); // its node remains for a while
        }
        client.named("q").acquire();
        TreeSet<String> expected =
                new TreeSet<>(held.stream().map(Lease::lockName).toList());
        for (int limit : new int[] {1, 2, 22, 23, 24, 10_000}) {
            List<String> seen = new ArrayList<>();
            String cursor = "";
            do {
                LockAdmin.Page page = get(admin().list("p/", limit, cursor));
                assertThat(page.locks()).hasSizeLessThanOrEqualTo(limit);
                page.locks().forEach(lock -> seen.add(lock.name()));
                cursor = page.next().orElse("");
            } while (!cursor.isEmpty());
            assertThat(seen).containsExactlyElementsOf(expected);
        }
        assertThat(get(admin().list("nothing", 5, "")).locks()).isEmpty();
    }

    @Test
    void aMissingBasePathHasNoLocks() throws Exception {
        assertThat(get(admin().list("", 5, "")).locks()).isEmpty();
        assertThat(get(admin().forceRelease("n", holder("x", 1)))).isFalse();
    }

    private static LockHolder holder(String raw, long token) {
        return LockHolder.foreign(raw).token(token);
    }

    @Test
    void forceReleaseRemovesOnlyTheGrantThatTheOperatorSaw() throws Exception {
        Lease lease = client.named("n").acquire();
        CompletableFuture<Lease> waiter = client.named("n").acquireAsync();
        ZooKeeperTestSupport.awaitWaiters(client, "n", 1);
        LockStatus status = ZooKeeperTestSupport.status(client, "n");
        LockHolder seen = status.holders().get(0);
        assertThat(get(admin().forceRelease("n", holder(seen.raw(), lease.fencingToken() + 1))))
                .isFalse();
        assertThat(get(admin().forceRelease("n", holder(seen.raw() + " ", lease.fencingToken()))))
                .isFalse();
        assertThat(get(admin().forceRelease("n", status.waiters().get(0)))).isFalse();
        assertThat(get(admin().forceRelease("other", seen))).isFalse();
        assertThat(ZooKeeperTestSupport.status(client, "n")).isEqualTo(status);
        assertThat(lease.isHeld()).isTrue();

        assertThat(get(admin().forceRelease("n", seen))).isTrue();
        LossReason reason = lease.lost().get(10, TimeUnit.SECONDS);
        assertThat(reason.kind()).isEqualTo(LossReason.Kind.REMOVED);
        try (Lease next = waiter.get(10, TimeUnit.SECONDS)) {
            assertThat(get(admin().forceRelease("n", seen))).isFalse();
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void diagnoseReportsAStandaloneServerAndAnOpenAcl() throws Exception {
        assertThat(ZooKeeperTestSupport.diagnosisOfRunningServers(client))
                .extracting(LockAdmin.Finding::what)
                .containsExactly(
                        "a standalone server",
                        "the locks are open to everyone on this machine: no password or certificate is needed to take or"
                                + " forge them");
        ZooKeeperOptions closed = ZooKeeperTestSupport.options(server.connectString(), Duration.ofSeconds(20))
                .auth("digest", "ann:pw".getBytes(StandardCharsets.UTF_8))
                .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                .basePath(base);
        try (LockClient other = ZooKeeperLocks.connect(closed)) {
            assertThat(ZooKeeperTestSupport.diagnosisOfRunningServers(other))
                    .extracting(LockAdmin.Finding::what)
                    .containsExactly("a standalone server");
        }
    }

    @Test
    void S18_foreignNodesAreShownAsForeign() throws Exception {
        ZooKeeperTestSupport.createPath(plain, base + "/f");
        String curator = plain.create(
                base + "/f/_c_0b0b0b0b-1c1c-2d2d-3e3e-4f4f4f4f4f4f-lock-",
                "10.0.0.1".getBytes(StandardCharsets.UTF_8),
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
        plain.create(base + "/f/x-lock-", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        LockStatus status = ZooKeeperTestSupport.status(client, "f");
        assertThat(status.holders().get(0).isForeign()).isTrue();
        assertThat(status.holders().get(0).raw()).isEqualTo("10.0.0.1");
        assertThat(status.holders().get(0).metadata())
                .containsEntry("client", "Curator")
                .containsEntry("node", curator.substring(curator.lastIndexOf('/') + 1))
                .containsEntry("session", "0x" + Long.toHexString(plain.getSessionId()));
        assertThat(status.waiters().get(0).metadata())
                .doesNotContainKey("client")
                .containsEntry("session", "none: the node stays until a client deletes it");
    }

    @Test
    void S19_hostileTextIsShownUnchangedAndBreaksNothing() throws Exception {
        String id = "0123456789abcdef0123456789abcdef";
        List<String> hostile = List.of(
                "",
                "\u001b[2J\nholder: another owner",
                id,
                id + " m1 pid=99999999999999999999 since=yesterday host=%zz meta.=x meta.a=%00 =b",
                id + " m1 " + "meta.k=v ".repeat(5_000),
                id.toUpperCase(Locale.ROOT) + " m1 host=h",
                "192.168.0.1");
        ZooKeeperTestSupport.createPath(plain, base + "/n");
        for (String text : hostile) {
            plain.create(
                    base + "/n/x-lock-",
                    text.getBytes(StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.EPHEMERAL_SEQUENTIAL);
        }
        plain.create(base + "/n/y-lock-", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        plain.create(
                base + "/n/z-lock-",
                new byte[] {(byte) 0xff, (byte) 0xfe, 0},
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
        ZooKeeperTestSupport.createPath(plain, base + "/n/not a contender");
        ZooKeeperTestSupport.createPath(plain, base + "/not a lock");
        ZooKeeperTestSupport.createPath(plain, base + "/%2");
        LockStatus status = ZooKeeperTestSupport.status(client, "n");
        List<LockHolder> queue = new ArrayList<>(status.holders());
        queue.addAll(status.waiters());
        assertThat(queue).hasSize(hostile.size() + 2);
        assertThat(queue.subList(0, hostile.size())).extracting(LockHolder::raw).isEqualTo(hostile);
        assertThat(queue.get(0).isForeign()).isTrue();
        assertThat(queue.get(3).pid()).isEmpty();
        assertThat(queue.get(3).since()).isEmpty();
        assertThat(queue.get(3).host()).contains("%zz");
        assertThat(get(admin().list("", 100, "")).locks())
                .extracting(LockStatus::name)
                .containsExactly("n");
        // A forged holder can be force-released, too.
        assertThat(get(admin().forceRelease("n", queue.get(0)))).isTrue();
        assertThat(ZooKeeperTestSupport.status(client, "n").holders().get(0).raw())
                .isEqualTo(hostile.get(1));
    }
}
