// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;

/** Tests that the in-memory reference backend passes the conformance kit. */
class MemoryConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new MemoryBackendUnderTest();
    }
}
