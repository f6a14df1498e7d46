// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/**
 * Conformance tests that inject no faults: one half of {@link LockConformance}.
 *
 * <p>Use both halves or {@link LockConformance} itself.
 */
public abstract class FaultFreeConformance extends ConformanceTestBase implements FaultFreeContracts {
    /** Called by JUnit for each new instance. */
    protected FaultFreeConformance() {}
}
