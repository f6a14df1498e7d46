// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/** A resource that a lock protects, and that may reject writes which carry an outdated fencing token. */
public interface ProtectedResource {
    /**
     * Writes under a grant.
     *
     * @param call the call that acquired the lease
     * @param token the fencing token of the grant
     * @return whether it was accepted
     * @throws InterruptedException if the thread was interrupted while it waited for the resource; the outcome is unknown
     */
    boolean write(AcquireCallId call, long token) throws InterruptedException;
}
