// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.HealthyConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of every backend, kept on a cluster of three: what can be seen without breaking anything; its other half is {@link EtcdClusterFaultConformanceTest}. */
@Tag("once")
@Tag("long")
class EtcdClusterConformanceTest extends HealthyConformance {
    @RegisterExtension
    static final TestServerExtension<EtcdTestCluster> CLUSTER = EtcdUnderTest.cluster();

    @Override
    protected BackendUnderTest backend() {
        return EtcdUnderTest.onCluster(CLUSTER);
    }
}
