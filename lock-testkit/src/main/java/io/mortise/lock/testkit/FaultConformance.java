// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/**
 * Conformance tests that inject faults: one half of {@link LockConformance}.
 *
 * <p>Use both halves or {@link LockConformance} itself.
 */
public abstract class FaultConformance extends ConformanceTestBase implements FaultContracts {
    /** Called by JUnit for each new instance. */
    protected FaultConformance() {}
}
