// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.LockOptions;
import io.mortise.lock.internal.CleanUpFirstFuture;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the outcome of one {@link AcquireOperation} to a future, on the callback executor.
 *
 * <p>The outcome is parked here until the executor runs the delivery. So if the caller ends the future early, a grant is
 * released immediately, even if the executor is busy, and before any stage runs (S8).
 */
public final class AcquireFutureDelivery<T> {
    private final AcquireServices with;
    private final LockName name;
    private final LockOptions options;
    private final @Nullable Duration maxWait;
    private final CompletableFuture<T> future = new CleanUpFirstFuture<>(this::withdraw);
    private final AtomicReference<@Nullable AcquireOutcome> parked = new AtomicReference<>();
    private volatile @Nullable AcquireOperation acquisition; // null while it starts

    public AcquireFutureDelivery(AcquireServices with, LockName name, LockOptions options, @Nullable Duration maxWait) {
        this.with = with;
        this.name = name;
        this.options = options;
        this.maxWait = maxWait;
    }

    /**
     * Starts the acquire operation.
     *
     * @param deliver completes the future with the outcome; runs on the callback executor
     */
    public CompletableFuture<T> begin(BiConsumer<AcquireOutcome, CompletableFuture<T>> deliver) {
        acquisition = AcquireOperation.start(with, name, options, maxWait, outcome -> {
            parked.set(outcome);
            if (future.isDone()) {
                releaseParked();
            } else {
                with.leases().callbacks().execute(() -> deliverParked(deliver));
            }
        });
        return future;
    }

    private void deliverParked(BiConsumer<AcquireOutcome, CompletableFuture<T>> deliver) {
        AcquireOutcome outcome = parked.getAndSet(null);
        if (outcome != null) {
            try {
                deliver.accept(outcome, future);
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        }
    }

    private void withdraw() {
        AcquireOperation started = acquisition;
        if (started != null) {
            started.withdraw();
        }
        releaseParked();
    }

    private void releaseParked() {
        if (parked.getAndSet(null) instanceof AcquireOutcome.Leased leased) {
            leased.lease().releaseAsync();
        }
    }
}
