// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.master.CleanupBacklogCounter;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Deletes, in the background, the grant and queue entry that an ended attempt may still have at one master.
 *
 * <p>Repeats the release until the master has confirmed it, or the grant and the queue entry have certainly expired (S8).
 */
final class OrphanCleanup {
    private OrphanCleanup() {}

    /**
     * Starts the cleanup.
     *
     * @param mayBeQueued whether the attempt may have a queue entry
     * @param release makes one try, and completes the future
     * @param whenEnded runs once
     */
    static void start(
            RedlockMaster master,
            LockRequest request,
            BackendContext context,
            boolean mayBeQueued,
            Consumer<CompletableFuture<Boolean>> release,
            Runnable whenEnded) {
        // A request is executed within two timeouts after it was sent, which allows for clock errors, or never. The
        // lifetimes of its grant and its queue entry begin when it is executed.
        Duration longestLifetime = mayBeQueued
                ? Durations.longer(request.leaseDuration(), RedlockContenderRequests.QUEUE_ENTRY_TTL)
                : request.leaseDuration();
        Duration within = longestLifetime.plus(master.node().requestTimeout().multipliedBy(2));
        CleanupBacklogCounter.Entry entry = master.cleanupBacklog().add(request.attemptId(), whenEnded);
        LockClock.Timer expiry = context.clock().schedule(within, entry::ended);
        context.cleanUp(
                "the possible orphan of lock \"" + request.name() + "\" at " + master.endpoint(),
                () -> {
                    CompletableFuture<Boolean> released = new CompletableFuture<>();
                    release.accept(released);
                    return released.whenComplete((done, failure) -> {
                        if (failure == null) {
                            expiry.cancel();
                            entry.ended();
                        } else {
                            entry.failed();
                        }
                    });
                },
                context.clock().now().plus(within));
    }
}
