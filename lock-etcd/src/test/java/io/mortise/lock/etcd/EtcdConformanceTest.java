// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.HealthyConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of every backend, kept on etcd: on a server; its other half is {@link EtcdFaultConformanceTest}. */
class EtcdConformanceTest extends HealthyConformance {
    private static ConformanceServer server;

    @BeforeAll
    static void startServer() {
        server = ConformanceServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Override
    protected BackendUnderTest backend() {
        return server.namespace();
    }
}
