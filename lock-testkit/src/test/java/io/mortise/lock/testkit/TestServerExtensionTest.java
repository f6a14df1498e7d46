// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;

class TestServerExtensionTest {
    private static final String PROPERTY = "mortise.test.nowhere";

    /** The extension does not use its context. */
    private static final ExtensionContext TESTS = (ExtensionContext) Proxy.newProxyInstance(
            TestServerExtensionTest.class.getClassLoader(),
            new Class<?>[] {ExtensionContext.class},
            (self, method, args) -> {
                throw new UnsupportedOperationException(method.toString());
            });

    private static final class StartedServer implements AutoCloseable {
        private boolean closed;

        @Override
        public void close() {
            closed = true;
        }
    }

    private final TestServerExtension<StartedServer> server =
            new TestServerExtension<>("nowhere", StartedServer::new, server -> "started server");

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void aStartedServer_runsForAllTestsOfAClass() throws Exception {
        server.beforeAll(TESTS);
        StartedServer started = server.startedServer();
        assertThat(server.address()).isEqualTo("started server");
        assertThat(server.startedServerIfAny()).containsSame(started);
        assertThat(started.closed).isFalse();
        server.afterAll(TESTS);
        assertThat(started.closed).isTrue();
        assertThat(server.startedServerIfAny()).isEmpty();
    }

    @Test
    void aRunningServer_isUsed_andNotClosed() throws Exception {
        System.setProperty(PROPERTY, "there");
        server.beforeAll(TESTS);
        assertThat(server.address()).isEqualTo("there");
        assertThat(server.startedServerIfAny()).isEmpty();
        assertThatThrownBy(server::startedServer).isInstanceOf(UnsupportedOperationException.class);
        server.afterAll(TESTS);
        assertThat(server.address()).isEqualTo("there");
    }
}
