// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** A block of code without a result that runs while a lease is held. */
@FunctionalInterface
public interface LeaseAction<X extends Exception> {
    /**
     * Runs the code on the caller's thread.
     *
     * @param lease the lease that is held; do not use it after this method returns, because it is released then
     */
    void run(Lease lease) throws X;
}
