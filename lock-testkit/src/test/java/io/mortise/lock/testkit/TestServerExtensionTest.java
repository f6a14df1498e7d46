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

    /** What it is given is of no interest. */
    private static final ExtensionContext TESTS = (ExtensionContext) Proxy.newProxyInstance(
            TestServerExtensionTest.class.getClassLoader(),
            new Class<?>[] {ExtensionContext.class},
            (self, method, args) -> {
                throw new UnsupportedOperationException(method.toString());
            });

    private static final class Own implements AutoCloseable {
        private boolean closed;

        @Override
        public void close() {
            closed = true;
        }
    }

    private final TestServerExtension<Own> server = new TestServerExtension<>("nowhere", Own::new, own -> "our own");

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void ourOwn_runsForAllTestsOfAClass() throws Exception {
        server.beforeAll(TESTS);
        Own own = server.own();
        assertThat(server.address()).isEqualTo("our own");
        assertThat(server.ifOwn()).containsSame(own);
        assertThat(own.closed).isFalse();
        server.afterAll(TESTS);
        assertThat(own.closed).isTrue();
        assertThat(server.ifOwn()).isEmpty();
    }

    @Test
    void oneFromOutside_isUsed_andNotOurs() throws Exception {
        System.setProperty(PROPERTY, "there");
        server.beforeAll(TESTS);
        assertThat(server.address()).isEqualTo("there");
        assertThat(server.ifOwn()).isEmpty();
        assertThatThrownBy(server::own).isInstanceOf(UnsupportedOperationException.class);
        server.afterAll(TESTS);
        assertThat(server.address()).isEqualTo("there");
    }
}
