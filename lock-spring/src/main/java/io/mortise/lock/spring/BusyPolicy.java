// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

/** Decides what a call of a {@link Locked} method does if another owner holds the lock until the end of the wait. */
public enum BusyPolicy {
    /** The call throws {@link LockBusyException}, or its future or publisher fails with it. */
    FAIL,
    /**
     * The method is skipped, as if it had nothing to do. Only for methods without a result or with one that can be absent: void,
     * {@code Optional}, a return type that is annotated with {@code @Nullable}, a {@code CompletionStage} of {@code Void} or
     * {@code Optional}, {@code Mono} and {@code Flux}. Other methods are refused when the application starts.
     */
    SKIP
}
