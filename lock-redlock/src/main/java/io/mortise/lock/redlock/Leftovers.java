// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What attempts that are over may have at one master: it is asked to take that away until it has answered, or the longest is
 * over that a lease there can last (S8). Where much is left, no more votes are asked for. Thread-safe.
 */
final class Leftovers {
    /** Beyond that come only those that were under way by then: no more than a node timeout's worth. */
    static final int MOST = 256;

    private final AtomicInteger open = new AtomicInteger();

    /** How many attempts have something there as far as anybody knows. */
    int size() {
        return open.get();
    }

    /** So much is left that no vote must be added. */
    boolean tooMany() {
        return open.get() >= MOST;
    }

    /** In the background; while that goes on for a part it is not begun a second time. */
    void settle(Part part, LockRequest request, BackendContext context) {
        if (!part.beginSettling()) {
            return;
        }
        open.incrementAndGet();
        // What was sent last is executed within two timeouts, as the clocks go, or not at all; its lease begins then.
        Duration within = request.leaseDuration()
                .plus(part.master().node().requestTimeout().multipliedBy(2));
        LockClock.Timer expiry = context.clock().schedule(within, () -> ended(part));
        context.settle(
                "what lock \"" + request.name().escaped() + "\" may have at "
                        + part.master().endpoint(),
                () -> takeAway(part).thenRun(() -> {
                    expiry.cancel();
                    ended(part);
                }),
                context.clock().nanoTime() + within.toNanos());
    }

    private void ended(Part part) {
        if (part.endSettling()) {
            open.decrementAndGet();
        }
    }

    private static CompletionStage<Void> takeAway(Part part) {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        part.removal()
                .release(
                        was -> {
                            if (was.settled()) {
                                settled.complete(null);
                            } else {
                                settled.completeExceptionally(
                                        new BackendUnavailableException("a request may yet be executed"));
                            }
                        },
                        settled::completeExceptionally);
        return settled;
    }
}
