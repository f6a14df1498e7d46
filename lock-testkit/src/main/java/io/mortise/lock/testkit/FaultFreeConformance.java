// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/**
 * The conformance tests that inject no faults, in a separate class so that they can be run on their own.
 *
 * <p>Use both halves or {@link LockConformance} itself.
 */
public abstract class FaultFreeConformance extends ConformanceTestBase implements FaultFreeContracts {
    /** Called by JUnit for each new instance. */
    protected FaultFreeConformance() {}
}
