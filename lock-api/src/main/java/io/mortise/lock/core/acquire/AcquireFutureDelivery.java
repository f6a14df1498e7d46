// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the outcome of one {@link AcquireOperation} to a future, on the callback executor. Until the executor takes it over
 * a grant is parked here, so that a future which ends early gives it back at once, however busy the executor is (S8).
 */
public final class AcquireFutureDelivery<T> {
    private final AcquireCollaborators with;
    private final LockName name;
    private final LockOptions options;
    private final @Nullable Duration maxWait;
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final AtomicReference<@Nullable AcquireOutcome> parked = new AtomicReference<>();

    public AcquireFutureDelivery(
            AcquireCollaborators with, LockName name, LockOptions options, @Nullable Duration maxWait) {
        this.with = with;
        this.name = name;
        this.options = options;
        this.maxWait = maxWait;
    }

    /**
     * Starts the acquire.
     *
     * @param deliver runs on the callback executor, with a future that had not ended when it was called
     */
    public CompletableFuture<T> begin(BiConsumer<AcquireOutcome, CompletableFuture<T>> deliver) {
        AcquireOperation acquisition = AcquireOperation.start(with, name, options, maxWait, outcome -> {
            parked.set(outcome);
            if (future.isDone()) {
                giveBack();
            } else {
                with.leases().callbacks().execute(() -> take(deliver));
            }
        });
        future.whenComplete((value, failure) -> {
            acquisition.withdraw();
            giveBack();
        });
        return future;
    }

    private void take(BiConsumer<AcquireOutcome, CompletableFuture<T>> deliver) {
        AcquireOutcome outcome = parked.getAndSet(null);
        if (outcome != null) {
            try {
                deliver.accept(outcome, future);
            } catch (RuntimeException e) {
                future.completeExceptionally(e);
            }
        }
    }

    private void giveBack() {
        if (parked.getAndSet(null) instanceof AcquireOutcome.Leased leased) {
            leased.lease().releaseAsync();
        }
    }
}
