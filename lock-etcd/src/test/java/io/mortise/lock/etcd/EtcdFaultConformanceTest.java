// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of every backend, kept on etcd: on a server and on lines to it that break. */
@Tag("once")
class EtcdFaultConformanceTest extends FaultConformance {
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
