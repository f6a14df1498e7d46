// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.servers.etcd.EtcdTestServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** On one server a class; each test has a namespace and a {@link Wire} of its own. */
abstract class OneServerTest {
    static final Duration SOON = Duration.ofSeconds(10);
    static EtcdTestServer server;

    final Wire wire = new Wire();
    OneNamespace namespace;

    @BeforeAll
    static void startServer() {
        server = EtcdTestServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    final void newNamespace() {
        namespace = OneNamespace.on(server);
    }
}
