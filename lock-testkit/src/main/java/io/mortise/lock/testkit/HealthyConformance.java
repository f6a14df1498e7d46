// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** The half of {@link LockConformance} without faults. Use both halves or the whole. */
public abstract class HealthyConformance extends ConformanceTestBase implements HealthyContracts {
    /** Called by JUnit for each new instance. */
    protected HealthyConformance() {}
}
