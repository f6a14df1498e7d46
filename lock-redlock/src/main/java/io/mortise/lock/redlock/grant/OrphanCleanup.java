// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redlock.master.CleanupBacklogCounter;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Removes in the background what an ended attempt may have left at one master. It repeats the release until the master has
 * answered or the longest possible lease has expired (S8).
 */
final class OrphanCleanup {
    private OrphanCleanup() {}

    /** Starts the cleanup unless one is running for this attempt at this master. */
    static void start(AttemptAtMaster part, LockRequest request, BackendContext context) {
        if (!part.beginCleanup()) {
            return;
        }
        // A request is executed within two timeouts of being sent, allowing for clocks, or never; its lease begins
        // then.
        Duration within = request.leaseDuration()
                .plus(part.master().node().requestTimeout().multipliedBy(2));
        CleanupBacklogCounter.Entry entry = part.master().cleanupBacklog().add(request.attemptId(), part::endCleanup);
        LockClock.Timer expiry = context.clock().schedule(within, entry::ended);
        context.cleanUp(
                "what lock \"" + request.name() + "\" may have at "
                        + part.master().endpoint(),
                () -> release(part).whenComplete((done, failure) -> {
                    if (failure == null) {
                        expiry.cancel();
                        entry.ended();
                    } else {
                        entry.failed();
                    }
                }),
                context.clock().now().plus(within));
    }

    private static CompletionStage<Void> release(AttemptAtMaster part) {
        CompletableFuture<Void> released = new CompletableFuture<>();
        part.removal()
                .release(
                        found -> {
                            if (found.complete()) {
                                released.complete(null);
                            } else {
                                released.completeExceptionally(new BackendUnavailableException(
                                        "a request without an answer may still be executed"));
                            }
                        },
                        released::completeExceptionally);
        return released;
    }
}
