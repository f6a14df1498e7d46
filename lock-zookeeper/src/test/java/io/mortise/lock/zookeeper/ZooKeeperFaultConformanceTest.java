// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the conformance tests with fault injection against the ZooKeeper backend. */
@Tag("long")
class ZooKeeperFaultConformanceTest extends FaultConformance {
    @RegisterExtension
    static final TestServerExtension<ZooKeeperTestServer> SERVER = ZooKeeperUnderTest.server();

    @Override
    protected BackendUnderTest backend() {
        return new ZooKeeperUnderTest(SERVER);
    }
}
