// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;

/** Shows defects of Spring Integration's lock registries by their API alone. */
@Tag("peers")
class SpringReproductionTest {
    /** java.util.concurrent.locks.Lock.tryLock(): "if the lock is not available then this method will return immediately". */
    @Test
    void tryLockOnZooKeeperWaitsASecondForALockThatIsHeld() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                CuratorFramework one = CuratorReproductionTest.connect(server.connectString());
                CuratorFramework two = CuratorReproductionTest.connect(server.connectString())) {
            ZookeeperLockRegistry holding = new ZookeeperLockRegistry(one);
            ZookeeperLockRegistry trying = new ZookeeperLockRegistry(two);
            try {
                Lock held = holding.obtain("lock");
                held.lock();
                Lock lock = trying.obtain("lock");
                long start = System.nanoTime();
                assertThat(lock.tryLock()).isFalse();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(900));
                held.unlock();
            } finally {
                holding.destroy();
                trying.destroy();
            }
        }
    }
}
