// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.internal;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * A future that runs an action when it ends, also if its caller ends it, and before its stages: they may request the lock again, or
 * block. Thread-safe.
 */
public final class CleanUpFirstFuture<T> extends CompletableFuture<T> {
    private final Runnable cleanUp;

    /** @param cleanUp withdraws and gives back what was not delivered. It may run more than once */
    public CleanUpFirstFuture(Runnable cleanUp) {
        this.cleanUp = cleanUp;
        whenComplete((value, failure) -> cleanUp.run()); // if the caller ends it otherwise, as by completeAsync()
    }

    @Override
    public boolean complete(T value) {
        return afterCleanUp(() -> super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        return afterCleanUp(() -> super.completeExceptionally(failure));
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return afterCleanUp(() -> super.cancel(mayInterruptIfRunning));
    }

    /** Ends the future also if the action fails: nobody else would. */
    private boolean afterCleanUp(BooleanSupplier end) {
        boolean ended;
        try {
            cleanUp.run();
        } finally {
            ended = end.getAsBoolean();
        }
        return ended;
    }
}
