// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/** Code that runs while a lease is held, and returns a result. */
@FunctionalInterface
public interface LeaseFunction<T extends @Nullable Object, X extends Exception> {
    /** Runs on the caller's thread with the lease held; must not keep the lease after it returns. */
    T call(Lease lease) throws X;
}
