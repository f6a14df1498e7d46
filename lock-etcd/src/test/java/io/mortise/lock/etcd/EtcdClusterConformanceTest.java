// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultFreeConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Runs the conformance tests that inject no faults on an etcd cluster of three members. The others are in {@link
 * EtcdClusterFaultConformanceTest}.
 */
@Tag("once")
@Tag("long")
class EtcdClusterConformanceTest extends FaultFreeConformance {
    @RegisterExtension
    static final TestServerExtension<EtcdTestCluster> CLUSTER = EtcdUnderTest.cluster();

    @Override
    protected BackendUnderTest backend() {
        return EtcdUnderTest.onCluster(CLUSTER);
    }
}
