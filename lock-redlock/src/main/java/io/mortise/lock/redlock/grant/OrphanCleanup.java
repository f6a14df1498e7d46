// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redlock.master.CleanupBacklogCounter;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Deletes, in the background, the grant and queue entry that an ended attempt may still have at one master.
 *
 * <p>Repeats the release until the master has confirmed it, or the grant and the queue entry have certainly expired (S8).
 */
final class OrphanCleanup {
    private OrphanCleanup() {}

    /** Starts the cleanup unless it is already running for this attempt at this master. */
    static void start(StoredAttemptAtMaster attempt, LockRequest request, BackendContext context) {
        if (!attempt.beginCleanup()) {
            return;
        }
        // A request is executed within two timeouts after it was sent, which allows for clock errors, or never. The
        // lifetimes of its grant and its queue entry begin when it is executed.
        Duration longestLifetime = attempt.mayBeQueued()
                ? Durations.longer(request.leaseDuration(), RedlockContender.QUEUE_ENTRY_TTL)
                : request.leaseDuration();
        Duration within =
                longestLifetime.plus(attempt.master().node().requestTimeout().multipliedBy(2));
        CleanupBacklogCounter.Entry entry =
                attempt.master().cleanupBacklog().add(request.attemptId(), attempt::endCleanup);
        LockClock.Timer expiry = context.clock().schedule(within, entry::ended);
        context.cleanUp(
                "the possible orphan of lock \"" + request.name() + "\" at "
                        + attempt.master().endpoint(),
                () -> release(attempt).whenComplete((done, failure) -> {
                    if (failure == null) {
                        expiry.cancel();
                        entry.ended();
                        if (attempt.mayStillExecute()) { // since the reply, while no other cleanup could start
                            start(attempt, request, context);
                        }
                    } else {
                        entry.failed();
                    }
                }),
                context.clock().now().plus(within));
    }

    private static CompletionStage<Void> release(StoredAttemptAtMaster attempt) {
        CompletableFuture<Void> released = new CompletableFuture<>();
        attempt.release(
                held -> {
                    if (attempt.mayStillExecute()) {
                        released.completeExceptionally(
                                new BackendUnavailableException("a request without an answer may still be executed"));
                    } else {
                        released.complete(null);
                    }
                },
                released::completeExceptionally);
        return released;
    }
}
