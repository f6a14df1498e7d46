// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** The half of {@link LockConformance} that breaks things, implemented in the same way. Use both halves or the whole. */
public abstract class FaultConformance extends Conformance implements FaultContracts {
    /** Called by JUnit for each new instance. */
    protected FaultConformance() {}
}
