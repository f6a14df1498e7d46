// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.servers.TcpProxy;
import io.mortise.lock.testkit.servers.ZooKeeperTestServer;
import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A server for each test: one client has a line to it that breaks, another and an operator have not. Nothing is left there. */
abstract class TwoClientsTest {
    static final Duration SESSION = Duration.ofSeconds(20);

    ZooKeeperTestServer server;
    TcpProxy proxy;
    LockClient client;
    LockClient other;
    ZooKeeper operator;

    /** Of the client whose line breaks. */
    ClientOptions options() {
        return ClientOptions.defaults();
    }

    @BeforeEach
    final void start() throws Exception {
        server = ZooKeeperTestServer.start();
        proxy = TcpProxy.to("127.0.0.1", server.port());
        // Twice: before it tries the one and only server again, ZooKeeper's client pauses for a second.
        String twice = proxy.address() + "," + proxy.address();
        client = ZooKeeperLocks.connect(ZkTests.options(twice, SESSION), options());
        other = ZkTests.client(server.connectString(), SESSION);
        operator = ZkTests.connect(server.connectString());
    }

    @AfterEach
    final void stop() throws Exception {
        client.close();
        other.close();
        operator.close();
        try {
            assertThat(server.liveEphemerals()).isEmpty();
            assertThat(server.watchCount()).isZero();
        } finally {
            proxy.close();
            server.close();
        }
    }
}
