// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.Attempt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The acquires of one ticket, each sent when its turn comes; if others are answered first, "waiting" is their answer too. */
final class SendInOrder implements AcquireOrder.Sender {
    private final Supplier<Attempt> waiting;
    private final Runnable wake;

    @GuardedBy("this")
    private @Nullable Unsent unsent;

    private record Unsent(
            AcquireOrder order, Supplier<CompletionStage<Attempt>> request, CompletableFuture<Attempt> later) {}

    /**
     * For one ticket.
     *
     * @param waiting the answer while others are ahead
     * @param wake to be asked again: its turn has come after that answer
     */
    SendInOrder(Supplier<Attempt> waiting, Runnable wake) {
        this.waiting = waiting;
        this.wake = wake;
    }

    /** @param request sends it; after its answer the order must be told */
    CompletionStage<Attempt> send(AcquireOrder order, Supplier<CompletionStage<Attempt>> request) {
        Unsent asked = new Unsent(order, request, new CompletableFuture<>());
        synchronized (this) {
            unsent = asked;
        }
        if (order.mayGo(this)) {
            mayGo();
        }
        return asked.later;
    }

    @Override
    public void mayGo() {
        Unsent asked = take();
        if (asked == null) {
            wake.run();
            return;
        }
        try {
            asked.request.get().whenComplete((attempt, failure) -> {
                if (failure == null) {
                    asked.later.complete(attempt);
                } else {
                    asked.later.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException | Error e) {
            asked.order.open();
            asked.later.completeExceptionally(e);
        }
    }

    @Override
    public void behind() {
        Unsent asked = take();
        if (asked != null) {
            asked.later.complete(waiting.get());
        }
    }

    private synchronized @Nullable Unsent take() {
        Unsent taken = unsent;
        unsent = null;
        return taken;
    }
}
