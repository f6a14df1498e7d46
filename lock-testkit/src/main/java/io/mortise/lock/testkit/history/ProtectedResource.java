// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/** A protected resource that can be written to. */
public interface ProtectedResource {
    /**
     * A write under a grant.
     *
     * @return whether it was accepted
     * @throws InterruptedException if the thread was interrupted while it waited for the resource; the outcome is unknown
     */
    boolean write(AcquireCallId call, long token) throws InterruptedException;
}
