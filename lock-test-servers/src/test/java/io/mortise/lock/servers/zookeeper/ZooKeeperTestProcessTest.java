// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import static io.mortise.lock.servers.zookeeper.Clients.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

class ZooKeeperTestProcessTest {
    @Test
    void pausedServer_doesNotReply_untilResumed() throws Exception {
        try (ZooKeeperTestProcess server = ZooKeeperTestProcess.start();
                ZooKeeper client = Clients.connect(server.connectString())) {
            Clients.create(client, "/mine", CreateMode.EPHEMERAL);
            server.pause();
            CompletableFuture<Integer> code = new CompletableFuture<>();
            client.exists("/mine", false, (rc, path, context, stat) -> code.complete(rc), null);
            assertThat(Await.holdsWithin(Duration.ofMillis(300), code::isDone)).isFalse();
            server.resume();
            assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
        }
    }

    @Test
    void killedServer_hasItsDataAfterRestart() throws Exception {
        try (ZooKeeperTestProcess server = ZooKeeperTestProcess.start();
                ZooKeeper client = Clients.connect(server.connectString())) {
            long session = client.getSessionId();
            long pid = server.pid();
            Clients.create(client, "/mine", CreateMode.EPHEMERAL);
            server.kill();
            assertThat(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false))
                    .isFalse();
            Await.until("the client is disconnected", LIMIT, () -> client.getState() == ZooKeeper.States.CONNECTING);

            server.restart();
            assertThat(server.pid()).isNotEqualTo(pid);
            Await.until("the client has reconnected", LIMIT, () -> client.getState() == ZooKeeper.States.CONNECTED);
            assertThat(client.exists("/mine", false).getEphemeralOwner()).isEqualTo(session);
        }
    }

    @Test
    void close_endsAPausedServer() {
        ZooKeeperTestProcess server = ZooKeeperTestProcess.start();
        ProcessHandle process = ProcessHandle.of(server.pid()).orElseThrow();
        server.pause();
        server.close();
        assertThat(process.isAlive()).isFalse();
    }
}
