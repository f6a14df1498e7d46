// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.servers.zookeeper.ZooKeeperServerOptions;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperOptions;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests many lock names on a server that does not remove empty lock nodes. */
@Tag("once")
class ZooKeeperManyNamesTest {
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final int MANY = 100_000;

    /** A busy machine may need many seconds for so many names. */
    private static final Duration LONG_LIST = Duration.ofSeconds(30);

    private ZooKeeperTestServer server;
    private LockClient client;
    private ZooKeeper operator;

    @BeforeEach
    void start() throws Exception {
        server = ZooKeeperTestServer.start(ZooKeeperServerOptions.defaults().withContainerCheck(Duration.ofHours(1)));
        client = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
        operator = ZooKeeperTestSupport.openHandle(server.connectString());
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        operator.close();
        server.close();
    }

    @Test
    void S17_theClientDeletesTheNodesOfNamesUsedOnce() throws Exception {
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            all.add(client.named("once/" + i).callAsync(lease -> CompletableFuture.completedFuture(1)));
        }
        for (CompletableFuture<Integer> each : all) {
            each.get(30, TimeUnit.SECONDS);
        }
        Await.until("the client has deleted all lock nodes", Duration.ofSeconds(30), () -> lockNodes() == 0);
    }

    @Test
    void S16_S17_aClientThatClosesLeavesNoNode() throws Exception {
        try (LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION)) {
            other.named("a").acquire().close();
            other.named("b").acquire(); // close() releases the lease
        }
        assertThat(lockNodes()).isZero();
    }

    @Test
    void S17_aLockNodeIsNeverCreatedWithoutItsFirstChild() throws Exception {
        client.named("before").acquire().close(); // creates the base path
        Map<String, Long> before = server.requests();
        Lease lease = client.named("new").acquire();
        assertThat(ZooKeeperTestSupport.sent(server, before))
                .isEqualTo(Map.of("create2", 1L, "getChildren", 2L, "multi", 1L));
        assertThat(ZooKeeperTestSupport.queue(operator, "new")).hasSize(1);
        lease.close();
    }

    @Test
    void S03_theTokenOfALocksFirstGrantIsTheCzxidOfItsNode() throws Exception {
        Lease lease = client.named("new").acquire();
        long czxid = operator.exists(
                        ZooKeeperTestSupport.fencingCondition(lease).node(), false)
                .getCzxid();
        assertThat(lease.fencingToken()).isEqualTo(czxid);
        lease.close();
    }

    @Test
    void S17_aClientThatMayNotDeleteLockNodesStillLocks() throws Exception {
        ZooKeeperTestSupport.createPath(operator, "/locks");
        int noDelete = ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE;
        operator.setACL("/locks", Collections.singletonList(new ACL(noDelete, ZooDefs.Ids.ANYONE_ID_UNSAFE)), -1);
        client.named("kept").acquire().close();
        Map<String, Long> before = server.requests();
        Await.until(
                "the client has tried to delete the lock node",
                ZooKeeperTestSupport.SOON,
                () -> ZooKeeperTestSupport.sent(server, before).containsKey("delete"));
        Map<String, Long> refused = server.requests();
        try (Lease lease = client.named("kept").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
        long deadline =
                System.nanoTime() + EmptyLockNodeCleanup.PERIOD.multipliedBy(3).toNanos();
        Await.until(
                "a second deletion would have been sent",
                ZooKeeperTestSupport.SOON,
                () -> System.nanoTime() - deadline > 0);
        assertThat(ZooKeeperTestSupport.sent(server, refused)).containsEntry("delete", 1L); // the contender's node
        assertThat(lockNodes()).isEqualTo(1);
    }

    @Test
    @Tag("long")
    void S18_aHundredThousandNamesAreListedAndReported() throws Exception {
        ZooKeeperTestSupport.createPath(operator, "/locks");
        for (int i = 0; i < MANY; i += 1_000) {
            List<Op> thousand = new ArrayList<>();
            for (int j = i; j < i + 1_000; j++) {
                thousand.add(Op.create(
                        "/locks/tenant-and-purpose:" + j, null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            }
            operator.multi(thousand);
        }
        try (LockClient lister = ZooKeeperLocks.connect(
                        ZooKeeperTestSupport.options(server.connectString(), SESSION),
                        ClientOptions.defaults().requestTimeout(LONG_LIST));
                Lease lease = lister.named("tenant-and-purpose:" + (MANY - 1)).acquire()) {
            LockAdmin.Page first = get(ZooKeeperTestSupport.admin(lister).list("", 10, ""));
            assertThat(first.locks()).as("a page of 2,000 free locks").isEmpty();
            assertThat(first.next()).isPresent();
            List<String> held = new ArrayList<>();
            String cursor = "";
            do { // long enough to show that the pages of free locks end
                LockAdmin.Page page = get(ZooKeeperTestSupport.admin(lister).list("tenant-and-purpose:99", 10, cursor));
                page.locks().stream().map(LockStatus::name).forEach(held::add);
                cursor = page.next().orElse("");
            } while (!cursor.isEmpty());
            assertThat(held).containsExactly(lease.lockName());
            assertThat(ZooKeeperTestSupport.diagnosis(lister))
                    .extracting(LockAdmin.Finding::what)
                    .contains(MANY + " lock nodes under the base path");

            try (LockClient onHandle = ZooKeeperLocks.connect(
                    ZooKeeperOptions.using(() -> operator))) { // this handle has ZooKeeper's default packet limit
                assertThatThrownBy(
                                () -> get(ZooKeeperTestSupport.admin(onHandle).list("", 10, "")))
                        .hasCauseInstanceOf(BackendRefusedException.class)
                        .hasMessageContaining("has " + MANY + " nodes, this ZooKeeper handle can list 4095");
                assertThat(operator.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
            }
        }
    }

    private int lockNodes() throws Exception {
        try {
            return operator.getChildren("/locks", false).size();
        } catch (KeeperException.NoNodeException e) {
            return 0;
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(2 * LONG_LIST.toSeconds(), TimeUnit.SECONDS);
    }
}
