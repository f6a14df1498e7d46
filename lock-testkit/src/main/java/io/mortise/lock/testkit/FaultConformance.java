// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** The half of {@link LockConformance} that injects faults. Use both halves or the whole. */
public abstract class FaultConformance extends ConformanceTestBase implements FaultContracts {
    /** Called by JUnit for each new instance. */
    protected FaultConformance() {}
}
