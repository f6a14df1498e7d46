// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of every backend, kept on five masters and on lines to them that break. */
@Tag("once")
class FiveMastersFaultConformanceTest extends FaultConformance {
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
