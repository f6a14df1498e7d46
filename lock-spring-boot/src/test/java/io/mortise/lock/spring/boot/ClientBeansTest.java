// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.TestServers;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.TestServerExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests that a client that is a bean serves for the locks, on real servers, and stays open. */
class ClientBeansTest {
    @RegisterExtension
    static final TestServerExtension<RedisTestServer> redis = TestServers.redis();

    @RegisterExtension
    static final TestServerExtension<EtcdTestServer> etcd = TestServers.etcd();

    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LockClientAutoConfiguration.class));

    /** Runs the application with a client that nobody but the test closes. */
    private <T> ApplicationContextRunner with(Class<T> type, T client) {
        return application.withBean(type, () -> client, bean -> bean.setDestroyMethodName(""));
    }

    /** Checks that the application holds a lock in the store, whose URL is that of another process. */
    private static void locksAreIn(String url, ApplicationContextRunner application) {
        application.run(context -> {
            assertThat(context).hasNotFailed();
            try (Lease lease = context.getBean(LockClient.class)
                            .named("job")
                            .tryAcquire(Duration.ofSeconds(20))
                            .orElseThrow();
                    LockClient other = Locks.connect(url)) {
                assertThat(other.named("job").tryAcquire()).isEmpty();
                assertThat(lease.isHeld()).isTrue();
            }
        });
    }

    @Test
    void aRedisClientIsUsedAndStaysOpen() {
        RedisClient client = RedisClient.create(redis.startedServer().url());
        try {
            locksAreIn(redis.startedServer().url(), with(RedisClient.class, client));
            assertThat(client.connect().sync().ping()).isEqualTo("PONG");
        } finally {
            client.shutdown();
        }
    }

    @Test
    void aRedisClusterClientIsUsedAndStaysOpen() {
        try (RedisTestCluster cluster = RedisTestCluster.start()) {
            RedisClusterClient client =
                    RedisClusterClient.create("redis://" + cluster.addresses().split(",", -1)[0]);
            try {
                locksAreIn("redis-cluster://" + cluster.addresses(), with(RedisClusterClient.class, client));
                assertThat(client.connect().sync().ping()).isEqualTo("PONG");
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void aJetcdClientIsUsedAndStaysOpen() throws Exception {
        try (Client client = Client.builder()
                .endpoints("http://127.0.0.1:" + etcd.startedServer().port())
                .build()) {
            locksAreIn(
                    etcd.address() + "?namespace=boot/",
                    with(Client.class, client).withPropertyValues("mortise.namespace=boot/"));
            assertThat(client.getKVClient()
                            .get(ByteSequence.from("any", StandardCharsets.UTF_8))
                            .get(20, TimeUnit.SECONDS)
                            .getHeader()
                            .getRevision())
                    .isPositive();
        }
    }

    @Test
    void curatorIsUsedAndStaysOpen() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                CuratorFramework curator =
                        CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100))) {
            curator.start();
            locksAreIn(
                    "zookeeper://" + server.connectString() + "/boot",
                    with(CuratorFramework.class, curator).withPropertyValues("mortise.namespace=/boot"));
            assertThat(curator.checkExists().forPath("/boot")).isNotNull();
        }
    }

    @Test
    void aZooKeeperHandleIsUsedAndStaysOpen() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                ZooKeeper handle = new ZooKeeper(server.connectString(), 30_000, event -> {})) {
            locksAreIn(
                    "zookeeper://" + server.connectString() + "/boot",
                    with(ZooKeeper.class, handle).withPropertyValues("mortise.namespace=/boot"));
            assertThat(handle.exists("/boot", false)).isNotNull();
        }
    }

    @Test
    void S14_propertiesThatTheStoreDoesNotHaveAreRefused() {
        with(CuratorFramework.class, CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(100)))
                .withPropertyValues("mortise.lease-duration=20s")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("mortise.lease-duration"));
    }

    /** A lazy client that nobody needs is not even created. */
    @Test
    void theUrlTakesPrecedenceOverClients() {
        application
                .withBean(RedisClient.class, () -> fail("a RedisClient"), bean -> bean.setLazyInit(true))
                .withBean(Client.class, () -> fail("a Client of jetcd"), bean -> bean.setLazyInit(true))
                .withPropertyValues("mortise.url=memory:boot-clients")
                .run(context -> assertThat(
                                context.getBean(LockClient.class).named("a").tryAcquire())
                        .isPresent());
    }
}
