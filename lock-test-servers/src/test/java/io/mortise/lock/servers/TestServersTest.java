// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.TestServerExtension;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Tests that a running server comes first; what is started otherwise is tested with the servers. */
class TestServersTest {
    /** The extension does not use its context. */
    private static final ExtensionContext TESTS = (ExtensionContext) Proxy.newProxyInstance(
            TestServersTest.class.getClassLoader(), new Class<?>[] {ExtensionContext.class}, (self, method, args) -> {
                throw new UnsupportedOperationException(method.toString());
            });

    @AfterEach
    void clearProperties() {
        List.of("redis", "redis.binary", "etcd", "etcd.binary")
                .forEach(setting -> System.clearProperty("mortise.test." + setting));
    }

    @Test
    void aRunningServerIsTakenFirst() {
        assertTakesRunning("redis", TestServers.redis(), "redis://127.0.0.1:7001");
        assertTakesRunning("etcd", TestServers.etcd(), "etcd://127.0.0.1:7002");
    }

    private static void assertTakesRunning(String store, TestServerExtension<?> server, String url) {
        System.setProperty("mortise.test." + store, url);
        System.setProperty("mortise.test." + store + ".binary", "no-such-server");
        server.beforeAll(TESTS);
        assertThat(server.address()).isEqualTo(url);
        assertThat(server.startedServerIfAny()).isEmpty();
    }
}
