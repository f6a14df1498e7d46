// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;

/** Tests that the registry and those of Spring Integration exclude each other, if it uses the same keys or nodes. */
class MixedFleetTest {
    private static final Duration ATTEMPT = Duration.ofSeconds(4); // longer than a pause of the machine

    /** Each registry has a thread of its own, because the thread is the owner. */
    private static boolean tryLock(ExecutorService thread, Lock lock, Duration maxWait) throws Exception {
        Future<Boolean> acquired = thread.submit(() -> lock.tryLock(maxWait.toMillis(), TimeUnit.MILLISECONDS));
        return acquired.get(60, TimeUnit.SECONDS);
    }

    private static void unlock(ExecutorService thread, Lock lock) throws Exception {
        thread.submit(lock::unlock).get(60, TimeUnit.SECONDS);
    }

    private static void assertEachExcludesTheOther(LockRegistry<?> theirs, LockRegistry<?> ours) throws Exception {
        String key = UUID.randomUUID().toString(); // as those of an aggregator
        ExecutorService ourThread = Executors.newSingleThreadExecutor();
        ExecutorService theirThread = Executors.newSingleThreadExecutor();
        try {
            assertThat(tryLock(theirThread, theirs.obtain(key), Duration.ofSeconds(20)))
                    .isTrue();
            assertThat(tryLock(ourThread, ours.obtain(key), ATTEMPT)).isFalse();
            unlock(theirThread, theirs.obtain(key));
            assertThat(tryLock(ourThread, ours.obtain(key), Duration.ofSeconds(20)))
                    .isTrue();
            assertThat(tryLock(theirThread, theirs.obtain(key), ATTEMPT)).isFalse();
            unlock(ourThread, ours.obtain(key)); // throws if theirs had taken it away
        } finally {
            ourThread.shutdownNow();
            theirThread.shutdownNow();
        }
    }

    private static MortiseLockRegistry registryWithPlainNames(LockClient client) {
        return new MortiseLockRegistry(client, LockOptions.defaults(), MortiseLockRegistry.namesWithPrefix(""));
    }

    @Test
    void S01_aRedisLockRegistryAndOursExcludeEachOther() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                LockClient client = Locks.connect(server.url() + "?prefix=orders:")) {
            LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
            connections.afterPropertiesSet();
            connections.start();
            RedisLockRegistry theirs = new RedisLockRegistry(connections, "orders");
            try {
                assertEachExcludesTheOther(theirs, registryWithPlainNames(client));
            } finally {
                theirs.destroy();
                connections.destroy();
            }
        }
    }

    @Test
    void S01_aZookeeperLockRegistryAndOursExcludeEachOther() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                CuratorFramework curator =
                        CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(1000));
                LockClient client =
                        Locks.connect("zookeeper://" + server.connectString() + "/SpringIntegration-LockRegistry")) {
            curator.start();
            ZookeeperLockRegistry theirs = new ZookeeperLockRegistry(curator);
            try {
                assertEachExcludesTheOther(theirs, registryWithPlainNames(client));
            } finally {
                theirs.destroy();
            }
        }
    }
}
