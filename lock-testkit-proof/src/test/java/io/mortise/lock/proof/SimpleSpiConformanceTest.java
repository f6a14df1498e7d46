// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import org.junit.jupiter.api.Tag;

/**
 * Tests that a backend with few capabilities on the simple SPI passes the conformance kit.
 *
 * <p>Such a backend is what a third party starts with. It has no {@code LockAdmin}, so rules that need one are reported as not
 * verified here.
 */
@Tag("once") // MemoryConformanceTest tests the same core on each JDK
class SimpleSpiConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new TableBackendUnderTest();
    }
}
