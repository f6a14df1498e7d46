// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** Creates and uses plain ZooKeeper clients for the tests of this package. */
final class Clients {
    static final Duration LIMIT = Duration.ofSeconds(30);

    private Clients() {}

    static ZooKeeper connect(String connectString, Duration session) throws IOException {
        ZooKeeper client = new ZooKeeper(connectString, Math.toIntExact(session.toMillis()), event -> {});
        Await.until("the client is connected", LIMIT, () -> client.getState() == ZooKeeper.States.CONNECTED);
        return client;
    }

    static ZooKeeper connect(String connectString) throws IOException {
        return connect(connectString, Duration.ofSeconds(20));
    }

    static void create(ZooKeeper client, String path, CreateMode mode) throws KeeperException, InterruptedException {
        client.create(path, "x".getBytes(StandardCharsets.UTF_8), ZooDefs.Ids.OPEN_ACL_UNSAFE, mode, new Stat());
    }

    /** Returns whether the client reads the node successfully; false also if the read fails. */
    static boolean exists(ZooKeeper client, String path) {
        try {
            return client.exists(path, false) != null;
        } catch (KeeperException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
