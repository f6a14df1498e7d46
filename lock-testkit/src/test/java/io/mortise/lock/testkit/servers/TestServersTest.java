// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TestServersTest {
    private static final String PROPERTY = "mortise.test.zookeeper";

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void zooKeeper_startsAServer() throws Exception {
        TestEndpoint endpoint = TestServers.zooKeeper();
        try (endpoint;
                ZooKeeper client = Clients.connect(endpoint.address())) {
            Clients.create(client, "/a", CreateMode.PERSISTENT);
            assertThat(endpoint.owned()).isTrue();
        }
        assertThat(FourLetterWord.mode(portOf(endpoint))).isEqualTo("none");
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

    private static int portOf(TestEndpoint endpoint) {
        return Integer.parseInt(endpoint.address().substring(endpoint.address().indexOf(':') + 1));
    }
}
