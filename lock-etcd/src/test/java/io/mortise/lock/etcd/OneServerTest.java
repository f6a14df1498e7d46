// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.servers.etcd.EtcdTestServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/**
 * Base class of tests that run on one etcd server, started once for each test class. Each test has its own namespace and
 * {@link Wire}.
 */
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
