// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a client switches from a silent server to another one before its leases end. */
@Tag("once")
class ZooKeeperSilentServerTest {
    private static final Duration SESSION = Duration.ofSeconds(20);

    @Test
    void S07_theClientSwitchesFromASilentServerBeforeTheLeasesEnd() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                TcpProxy one = TcpProxy.to("127.0.0.1", server.port());
                TcpProxy two = TcpProxy.to("127.0.0.1", server.port());
                LockClient client = ZooKeeperTestSupport.connectClient(one.address() + "," + two.address(), SESSION)) {
            Lease lease = client.named("silent").acquire();
            TcpProxy silent = one.connections() == 1 ? one : two;
            TcpProxy other = silent == one ? two : one;
            assertThat(silent.connections()).isEqualTo(1);
            long start = System.nanoTime();
            silent.blackHole();
            Await.until("the client has connected to the other proxy", SESSION, () -> other.connections() == 1);
            // A liveness check is due after a fifth of the timeout and missed after a quarter more, and the client
            // takes a
            // second to connect: 10 s. ZooKeeper's client alone would detect the silence after 13.3 s, and the deadline
            // is
            // after 14.8 s.
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(SESSION.multipliedBy(2).dividedBy(3));
            Await.until(
                    "a liveness check over the other proxy has succeeded",
                    SESSION,
                    () -> !lease.isHeld() || lease.remaining().compareTo(SESSION.dividedBy(2)) > 0);
            assertThat(lease.isHeld()).isTrue();
            lease.close();
        }
    }
}
