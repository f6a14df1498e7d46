// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/**
 * The contract of every backend, as tests named by rule. Subclass it, implement {@link #backend()}, run it with JUnit.
 *
 * <p>A rule that the backend gives no means to check is reported as aborted with NOT VERIFIED, never as passed.
 */
public abstract class LockConformance {
    /** The store with an empty namespace, called once for each test. */
    protected abstract BackendUnderTest backend();
}
