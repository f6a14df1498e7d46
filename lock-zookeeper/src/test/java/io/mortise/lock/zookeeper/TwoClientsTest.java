// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Base class of tests with two lock clients and an operator on one ZooKeeper server.
 *
 * <p>One of the clients connects through a proxy. After each test, no ephemeral node and no watch may remain on the server.
 */
public abstract class TwoClientsTest {
    protected static final Duration SESSION = Duration.ofSeconds(20);

    protected ZooKeeperTestServer server;
    protected TcpProxy proxy;
    protected LockClient client;
    protected LockClient other;
    protected ZooKeeper operator;

    /** Returns the options of the client behind the proxy. */
    protected ClientOptions options() {
        return ClientOptions.defaults();
    }

    @BeforeEach
    final void start() throws Exception {
        server = ZooKeeperTestServer.start();
        proxy = TcpProxy.to("127.0.0.1", server.port());
        // The address is listed twice because ZooKeeper's client pauses for a second before it retries a single server.
        String twice = proxy.address() + "," + proxy.address();
        client = ZooKeeperLocks.connect(ZooKeeperTestSupport.options(twice, SESSION), options());
        other = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
        operator = ZooKeeperTestSupport.openHandle(server.connectString());
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
