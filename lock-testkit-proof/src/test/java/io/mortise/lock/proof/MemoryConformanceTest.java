// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;

/** The reference backend keeps the contract. */
class MemoryConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new OneMemoryStore();
    }
}
