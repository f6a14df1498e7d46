// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.HealthyConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of every backend, kept on five masters; its other half is {@link FiveMastersFaultConformanceTest}. */
class FiveMastersConformanceTest extends HealthyConformance {
    private static ConformanceMasters masters;

    @BeforeAll
    static void startMasters() {
        masters = new ConformanceMasters(5);
    }

    @AfterAll
    static void stopMasters() {
        masters.close();
    }

    @Override
    protected BackendUnderTest backend() {
        return masters.prefix();
    }
}
