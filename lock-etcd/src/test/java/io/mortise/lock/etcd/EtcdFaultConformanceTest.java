// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the conformance tests that inject faults on one etcd server. */
@Tag("long")
class EtcdFaultConformanceTest extends FaultConformance {
    @RegisterExtension
    static final TestServerExtension<EtcdTestServer> SERVER = EtcdUnderTest.server();

    @Override
    protected BackendUnderTest backend() {
        return EtcdUnderTest.on(SERVER);
    }
}
