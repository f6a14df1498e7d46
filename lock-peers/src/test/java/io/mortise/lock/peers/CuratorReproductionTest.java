// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shows defects of Curator's locks by Curator's API alone. */
@Tag("peers")
class CuratorReproductionTest {
    /** The Javadoc of acquire(time, unit): "blocks until it's available or the given time expires". */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTimedAcquireTakesMuchLongerWhileTheServerIsSilent(boolean semaphore) throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                TcpProxy link = TcpProxy.to("127.0.0.1", server.port());
                CuratorFramework client = connect(link.address())) {
            InterProcessLock lock = semaphore
                    ? new InterProcessSemaphoreMutex(client, "/lock")
                    : new InterProcessMutex(client, "/lock");
            link.blackHole();
            long start = System.nanoTime();
            assertThatThrownBy(() -> lock.acquire(300, TimeUnit.MILLISECONDS)).isInstanceOf(Exception.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(4));
        }
    }

    static CuratorFramework connect(String address) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(address)
                .sessionTimeoutMs(6000)
                .connectionTimeoutMs(1000)
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        assertThat(client.blockUntilConnected(10, TimeUnit.SECONDS)).isTrue();
        return client;
    }
}
