// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/** A function that runs while a lease is held, and returns a result. */
@FunctionalInterface
public interface LeaseFunction<T extends @Nullable Object, X extends Exception> {
    /**
     * Computes the result on the caller's thread.
     *
     * @param lease the lease that is held; do not use it after this method returns, because it is released then
     */
    T call(Lease lease) throws X;
}
