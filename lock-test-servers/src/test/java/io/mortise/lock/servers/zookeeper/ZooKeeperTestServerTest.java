// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import static io.mortise.lock.servers.zookeeper.Clients.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

class ZooKeeperTestServerTest {
    @Test
    void expireSession_deletesEphemeralNodes_andNotifiesTheClient() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                ZooKeeper victim = Clients.connect(server.connectString())) {
            Clients.create(victim, "/mine", CreateMode.EPHEMERAL);
            assertThat(server.liveEphemerals()).containsExactly("/mine");
            assertThat(server.sessions()).containsExactly(victim.getSessionId());

            server.expireSession(victim.getSessionId());
            assertThat(server.liveEphemerals()).isEmpty();
            assertThat(server.sessions()).isEmpty();
            Await.until("the client knows", LIMIT, () -> victim.getState() == ZooKeeper.States.CLOSED);
            assertThatThrownBy(() -> victim.exists("/mine", false))
                    .isInstanceOf(KeeperException.SessionExpiredException.class);
        }
    }

    @Test
    void restart_keepsPortSessionsAndEphemeralNodes() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                ZooKeeper client = Clients.connect(server.connectString())) {
            long session = client.getSessionId();
            Clients.create(client, "/mine", CreateMode.EPHEMERAL);
            server.stop();
            Await.until("the client is disconnected", LIMIT, () -> client.getState() == ZooKeeper.States.CONNECTING);
            assertThatThrownBy(server::sessions).isInstanceOf(IllegalStateException.class);

            server.restart();
            Await.until("the client has reconnected", LIMIT, () -> client.getState() == ZooKeeper.States.CONNECTED);
            assertThat(client.getSessionId()).isEqualTo(session);
            assertThat(server.liveEphemerals()).containsExactly("/mine");
            assertThat(client.exists("/mine", false).getEphemeralOwner()).isEqualTo(session);
        }
    }

    @Test
    void requests_countsEachKind_andPacketsReceivedExcludesPings() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                ZooKeeper client = Clients.connect(server.connectString(), Duration.ofSeconds(6))) {
            Clients.create(client, "/a", CreateMode.PERSISTENT);
            Clients.create(client, "/b", CreateMode.PERSISTENT);
            client.getData("/a", true, null);
            client.delete("/b", -1);
            Await.until("the client has pinged", LIMIT, () -> server.requests().getOrDefault("ping", 0L) > 0);

            assertThat(server.requests())
                    .containsAllEntriesOf(Map.of("create2", 2L, "getData", 1L, "delete", 1L))
                    .containsOnlyKeys("create2", "getData", "delete", "ping");
            assertThat(server.requestsWithoutPings()).isEqualTo(4);
            assertThat(server.watchCount()).isEqualTo(1);
        }
    }

    @Test
    void containers_areRemovedWhenEmpty() throws Exception {
        ZooKeeperServerOptions options = ZooKeeperServerOptions.defaults().withContainerCheck(Duration.ofMillis(50));
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start(options);
                ZooKeeper client = Clients.connect(server.connectString())) {
            Clients.create(client, "/lock", CreateMode.CONTAINER);
            Clients.create(client, "/lock/node", CreateMode.EPHEMERAL);
            client.delete("/lock/node", -1);
            Await.until("the container is deleted", LIMIT, () -> !Clients.exists(client, "/lock"));
        }
    }

    @Test
    void options_limitTheSessionTimeout() throws Exception {
        ZooKeeperServerOptions options =
                ZooKeeperServerOptions.defaults().withSessions(Duration.ofSeconds(2), Duration.ofSeconds(3));
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start(options);
                ZooKeeper eager = Clients.connect(server.connectString(), Duration.ofMillis(500));
                ZooKeeper lazy = Clients.connect(server.connectString(), Duration.ofSeconds(50))) {
            assertThat(eager.getSessionTimeout()).isEqualTo(2000);
            assertThat(lazy.getSessionTimeout()).isEqualTo(3000);
        }
    }

    @Test
    void close_leavesNeitherThreadsNorFiles() throws Exception {
        ZooKeeperTestServer server = ZooKeeperTestServer.start();
        String connectString = server.connectString();
        assertThat(server.data()).isNotEmptyDirectory();
        Clients.connect(connectString).close();
        server.close();
        server.close();
        assertThat(server.data()).doesNotExist();
        // ZooKeeper does not wait for the end of some of its threads.
        Await.until(
                "its threads ended",
                LIMIT,
                () -> Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .noneMatch(name -> name.contains("NIOServerCxn")
                                || name.contains("NIOWorkerThread")
                                || name.contains("SyncThread")
                                || name.contains("ProcessThread")
                                || name.contains("SessionTracker")
                                || name.contains("ContainerManager")));
    }
}
