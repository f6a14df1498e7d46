// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A call of {@link io.mortise.lock.LockAdmin}, which completes on the callback executor of the application. Stateless. */
final class AdminCall {
    /** Longer than the requests of a call take, unless the request timeout is much longer than by default. */
    static final Duration LIMIT = Duration.ofSeconds(30);

    private AdminCall() {}

    /**
     * Waits for the result.
     *
     * @throws IllegalStateException if there is none within the limit
     * @throws CompletionException if the call fails
     */
    static <T> T await(CompletableFuture<T> call, Duration limit) {
        try {
            return call.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof TimeoutException) {
                throw new IllegalStateException("no result within " + limit + ": the callback executor is busy", e);
            }
            throw e;
        }
    }
}
