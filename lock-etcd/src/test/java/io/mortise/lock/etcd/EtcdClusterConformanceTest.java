// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.HealthyConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of every backend, kept on a cluster of three: what can be seen without breaking anything; its other half is {@link EtcdClusterFaultConformanceTest}. */
@Tag("once")
class EtcdClusterConformanceTest extends HealthyConformance {
    private static ConformanceServer cluster;

    @BeforeAll
    static void startCluster() {
        cluster = ConformanceServer.startCluster();
    }

    @AfterAll
    static void stopCluster() {
        cluster.close();
    }

    @Override
    protected BackendUnderTest backend() {
        return cluster.namespace();
    }
}
