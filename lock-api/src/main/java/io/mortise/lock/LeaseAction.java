// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** Code that runs while a lease is held. */
@FunctionalInterface
public interface LeaseAction<X extends Exception> {
    /** Runs on the caller's thread with the lease held; must not keep the lease after it returns. */
    void run(Lease lease) throws X;
}
