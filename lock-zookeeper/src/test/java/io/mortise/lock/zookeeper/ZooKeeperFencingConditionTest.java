// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that the application's own writes are executed only while the lease's grant exists. */
class ZooKeeperFencingConditionTest {
    private static final String DATA = "/data";
    private static final String CHROOT = "/apps";

    private static ZooKeeperTestServer server;
    private ZooKeeper plain; // has the same chroot as the client
    private LockClient client;

    @BeforeAll
    static void startServer() throws Exception {
        server = ZooKeeperTestServer.start();
        try (ZooKeeper root = ZooKeeperTestSupport.openHandle(server.connectString())) {
            ZooKeeperTestSupport.createPath(root, CHROOT + DATA);
        }
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        plain = ZooKeeperTestSupport.openHandle(server.connectString() + CHROOT);
        plain.setData(DATA, bytes("before"), -1);
        client = ZooKeeperLocks.connect(
                ZooKeeperTestSupport.options(server.connectString() + CHROOT, Duration.ofSeconds(20))
                        .basePath("/a/b"));
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        plain.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private String data() throws Exception {
        return new String(plain.getData(DATA, false, null), StandardCharsets.UTF_8);
    }

    private static void write(ZooKeeper by, ZooKeeperFencingCondition condition, String text) throws Exception {
        by.multi(List.of(condition.check(), Op.setData(DATA, bytes(text), -1)));
    }

    private void assertWritesNothing(ZooKeeperFencingCondition condition) throws Exception {
        // Uses a live handle: on the handle of an ended session no request would reach the server.
        assertThatThrownBy(() -> write(plain, condition, "late")).isInstanceOf(KeeperException.NoNodeException.class);
        assertThat(data()).isEqualTo("before");
        assertThat(plain.exists(condition.node(), false)).isNull();
    }

    @Test
    void aHolderWrites() throws Exception {
        try (Lease lease = client.named("n/1").acquire()) {
            ZooKeeperFencingCondition condition = ZooKeeperTestSupport.fencingCondition(lease);
            write(condition.zooKeeper(), condition, "held");
            assertThat(data()).isEqualTo("held");
            assertThat(condition.node()).startsWith("/a/b/n%2F1/" + lease.ownerId());
            assertThat(plain.exists(condition.node(), false).getCzxid()).isEqualTo(lease.fencingToken());
        }
    }

    @Test
    void aReleasedLeaseWritesNothing() throws Exception {
        Lease lease = client.named("n").acquire();
        ZooKeeperFencingCondition condition = ZooKeeperTestSupport.fencingCondition(lease);
        lease.close();
        assertThatThrownBy(() -> write(condition.zooKeeper(), condition, "late"))
                .isInstanceOf(KeeperException.NoNodeException.class);
        assertWritesNothing(condition);
    }

    @Test
    void anotherHoldersGrantDoesNotPassTheCheck() throws Exception {
        Lease lease = client.named("n").acquire();
        ZooKeeperFencingCondition condition = ZooKeeperTestSupport.fencingCondition(lease);
        lease.close();
        try (Lease next = client.named("n").acquire()) {
            assertThat(ZooKeeperTestSupport.fencingCondition(next).node()).isNotEqualTo(condition.node());
            assertWritesNothing(condition);
        }
    }

    @Test
    void aLeaseWhoseNodeWasDeletedWritesNothing() throws Exception {
        Lease lease = client.named("n").acquire();
        ZooKeeperFencingCondition condition = ZooKeeperTestSupport.fencingCondition(lease);
        plain.delete(condition.node(), -1);
        assertThatThrownBy(() -> write(condition.zooKeeper(), condition, "late"))
                .isInstanceOf(KeeperException.NoNodeException.class);
        assertWritesNothing(condition);
    }

    @Test
    void aLeaseWhoseSessionExpiredWritesNothing() throws Exception {
        Lease lease = client.named("n").acquire();
        ZooKeeperFencingCondition condition = ZooKeeperTestSupport.fencingCondition(lease);
        server.expireSession(condition.zooKeeper().getSessionId());
        assertThatThrownBy(() -> write(condition.zooKeeper(), condition, "late"))
                .isInstanceOf(KeeperException.class);
        assertWritesNothing(condition);
        lease.lost().get(10, TimeUnit.SECONDS);
    }

    @Test
    void oneFailedOperationCancelsTheOthers() throws Exception {
        Lease lease = client.named("n").acquire();
        ZooKeeperFencingCondition condition = ZooKeeperTestSupport.fencingCondition(lease);
        lease.close();
        Op create = Op.create("/created", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertThatThrownBy(() -> plain.multi(List.of(create, Op.setData(DATA, bytes("late"), -1), condition.check())))
                .isInstanceOf(KeeperException.NoNodeException.class);
        assertThat(plain.exists("/created", false)).isNull();
        assertThat(data()).isEqualTo("before");
    }

    @Test
    void otherTypesAreNotSupported() throws Exception {
        try (Lease lease = client.named("n").acquire()) {
            assertThat(lease.unwrap(String.class)).isEmpty();
        }
    }
}
