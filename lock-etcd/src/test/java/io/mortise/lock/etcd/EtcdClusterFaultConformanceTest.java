// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of every backend, kept on a cluster of three: lines to all of them that break, and all of them at once. */
@Tag("once")
class EtcdClusterFaultConformanceTest extends FaultConformance {
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
