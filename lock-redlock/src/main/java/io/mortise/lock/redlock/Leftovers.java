// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What attempts that are over may have at one master: it is asked to take that away until it has answered, or the longest is
 * over that a lease there can last (S8). Where it has not done so for many, no more votes are asked for. Thread-safe.
 */
final class Leftovers {
    /** Beyond that come only those that were under way by then: no more than some node timeouts' worth. */
    static final int MOST = 256;

    private final AtomicInteger owed = new AtomicInteger();
    private final Set<String> attempts = ConcurrentHashMap.newKeySet();

    /** For how many attempts it was asked, and has not answered yet that nothing is left. */
    int size() {
        return owed.get();
    }

    /** So much is left that no vote must be added. */
    boolean tooMany() {
        return owed.get() >= MOST;
    }

    /** Whether that attempt is one of those. */
    boolean includes(String attemptId) {
        return attempts.contains(attemptId);
    }

    /** In the background; while that goes on for a part it is not begun a second time. */
    void settle(Part part, LockRequest request, BackendContext context) {
        if (!part.beginSettling()) {
            return;
        }
        // What was sent last is executed within two timeouts, as the clocks go, or not at all; its lease begins then.
        Duration within = request.leaseDuration()
                .plus(part.master().node().requestTimeout().multipliedBy(2));
        Debt debt = new Debt(part, request.attemptId());
        LockClock.Timer expiry = context.clock().schedule(within, debt::ended);
        context.cleanUp(
                "what lock \"" + request.name() + "\" may have at "
                        + part.master().endpoint(),
                () -> takeAway(part).whenComplete((settled, failure) -> {
                    if (failure == null) {
                        expiry.cancel();
                        debt.ended();
                    } else {
                        debt.stands();
                    }
                }),
                context.clock().nanoTime() + within.toNanos());
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

    /** What one part may have. It counts once a try has failed: a master that answers owes nothing for long. */
    private final class Debt {
        private final Part part;
        private final String attemptId;

        @GuardedBy("this")
        private boolean counted;

        @GuardedBy("this")
        private boolean over;

        Debt(Part part, String attemptId) {
            this.part = part;
            this.attemptId = attemptId;
            attempts.add(attemptId);
        }

        synchronized void stands() {
            if (!counted && !over) {
                counted = true;
                owed.incrementAndGet();
            }
        }

        synchronized void ended() {
            if (!over) {
                over = true;
                attempts.remove(attemptId);
                part.endSettling();
                if (counted) {
                    owed.decrementAndGet();
                }
            }
        }
    }
}
