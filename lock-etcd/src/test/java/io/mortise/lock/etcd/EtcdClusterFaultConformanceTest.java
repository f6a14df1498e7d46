// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of every backend, kept on a cluster of three: lines to all of them that break, and all of them at once. */
@Tag("once")
@Tag("long")
class EtcdClusterFaultConformanceTest extends FaultConformance {
    @RegisterExtension
    static final TestServerExtension<EtcdTestCluster> CLUSTER = EtcdUnderTest.cluster();

    @Override
    protected BackendUnderTest backend() {
        return EtcdUnderTest.onCluster(CLUSTER);
    }
}
