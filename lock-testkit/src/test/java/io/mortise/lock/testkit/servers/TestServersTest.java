// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TestServersTest {
    private static final String PROPERTY = "mortise.test.zookeeper";
    private static final String REDIS = "mortise.test.redis";
    private static final String REDIS_BINARY = "mortise.test.redis.binary";
    private static final String ETCD = "mortise.test.etcd";
    private static final String ETCD_BINARY = "mortise.test.etcd.binary";

    @AfterEach
    void forget() {
        List.of(PROPERTY, REDIS, REDIS_BINARY, ETCD, ETCD_BINARY).forEach(System::clearProperty);
    }

    @Test
    void zooKeeper_startsAServer() throws Exception {
        TestEndpoint endpoint = TestServers.zooKeeper();
        try (endpoint;
                ZooKeeper client = Clients.connect(endpoint.address())) {
            Clients.create(client, "/a", CreateMode.PERSISTENT);
            assertThat(endpoint.owned()).isTrue();
        }
        assertThat(ZooKeeperRoleProbe.mode(portOf(endpoint))).isEqualTo("none");
    }

    @Test
    void zooKeeper_takesTheGivenOne_andLeavesItAlone() throws Exception {
        try (ZooKeeperTestServer given = ZooKeeperTestServer.start()) {
            System.setProperty(PROPERTY, given.connectString());
            try (TestEndpoint endpoint = TestServers.zooKeeper()) {
                assertThat(endpoint.owned()).isFalse();
                assertThat(endpoint.address()).isEqualTo(given.connectString());
            }
            try (ZooKeeper client = Clients.connect(given.connectString())) {
                assertThat(given.sessions()).containsExactly(client.getSessionId());
            }
        }
    }

    @Test
    void redis_startsAServer() {
        int port;
        try (TestEndpoint endpoint = TestServers.redis()) {
            assertThat(endpoint.owned()).isTrue();
            assertThat(endpoint.address()).startsWith("redis://127.0.0.1:");
            port = Integer.parseInt(endpoint.address().substring("redis://127.0.0.1:".length()));
            try (RawRedis redis = RawRedis.connect(port)) {
                assertThat(redis.call("PING")).isEqualTo("PONG");
            }
        }
        assertThatThrownBy(() -> RawRedis.connect(port)).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void redis_takesTheGivenOne_andLeavesItAlone() {
        try (RedisTestServer given = RedisTestServer.start()) {
            System.setProperty(REDIS, given.url());
            try (TestEndpoint endpoint = TestServers.redis()) {
                assertThat(endpoint.owned()).isFalse();
                assertThat(endpoint.address()).isEqualTo(given.url());
            }
            assertThat(given.isAlive()).isTrue();
        }
    }

    @Test
    void redis_takesTheGivenBinary() {
        System.setProperty(REDIS_BINARY, ServerBinary.redis().toString());
        try (TestEndpoint endpoint = TestServers.redis()) {
            assertThat(endpoint.owned()).isTrue();
        }
    }

    @Test
    void redis_saysInOneLineWhatToInstall_whenThereIsNone() {
        System.setProperty(REDIS_BINARY, "no-such-server");
        assertThatThrownBy(TestServers::redis)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "No no-such-server on the PATH: install it (Debian: apt-get install redis-server")
                .hasMessageNotContaining("\n");
    }

    @Test
    void etcd_startsAServer() {
        RawEtcd etcd;
        try (TestEndpoint endpoint = TestServers.etcd()) {
            assertThat(endpoint.owned()).isTrue();
            assertThat(endpoint.address()).startsWith("etcd://127.0.0.1:");
            etcd = RawEtcd.connect(Integer.parseInt(endpoint.address().substring("etcd://127.0.0.1:".length())));
            assertThat(etcd.put("key", "1")).isPositive();
        }
        assertThatThrownBy(etcd::status).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void etcd_takesTheGivenOne_andLeavesItAlone() {
        System.setProperty(ETCD, "etcd://etcd.example:2379");
        try (TestEndpoint endpoint = TestServers.etcd()) {
            assertThat(endpoint.owned()).isFalse();
            assertThat(endpoint.address()).isEqualTo("etcd://etcd.example:2379");
        }
    }

    @Test
    void etcd_takesTheGivenBinary() {
        System.setProperty(ETCD_BINARY, ServerBinary.etcd().toString());
        try (TestEndpoint endpoint = TestServers.etcd()) {
            assertThat(endpoint.owned()).isTrue();
        }
    }

    @Test
    void etcd_saysInOneLineWhatToInstall_whenThereIsNone() {
        System.setProperty(ETCD_BINARY, "no-such-server");
        assertThatThrownBy(TestServers::etcd)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "No no-such-server on the PATH: install it (Debian: apt-get install etcd-server")
                .hasMessageNotContaining("\n");
    }

    private static int portOf(TestEndpoint endpoint) {
        return Integer.parseInt(endpoint.address().substring(endpoint.address().indexOf(':') + 1));
    }
}
