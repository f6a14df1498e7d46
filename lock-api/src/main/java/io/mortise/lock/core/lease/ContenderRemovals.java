// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Removes contenders from the store, and retries each removal until the store responds. Rule S8. Thread-safe. */
public final class ContenderRemovals {
    private final LockClock clock;
    private final LastResponse lastResponse;
    private final CleanupRetrier cleanups;
    private final Consumer<LockName> whenRemoved;

    /** @param whenRemoved receives the lock name of each contender that may have been removed */
    public ContenderRemovals(
            LockClock clock, LastResponse lastResponse, CleanupRetrier cleanups, Consumer<LockName> whenRemoved) {
        this.clock = clock;
        this.lastResponse = lastResponse;
        this.cleanups = cleanups;
        this.whenRemoved = whenRemoved;
    }

    /**
     * Removes the grant or queue entry that a contender may have in the store.
     *
     * @param lease the longest time for which the store may keep it
     */
    public void remove(LockName name, Contender contender, Duration lease) {
        removeAt(name, contender, lease, clock.now(), new PendingCleanup.Listener<Boolean>() {});
    }

    /**
     * Ends the grant of a contender, but lets the store keep it until an instant, which may have passed (S5).
     *
     * @param listener is notified of the end
     */
    void removeAt(
            LockName name,
            Contender contender,
            Duration lease,
            MonotonicInstant at,
            PendingCleanup.Listener<Boolean> listener) {
        MonotonicInstant until = clock.now().plus(lease);
        Supplier<CompletionStage<Boolean>> removal = () -> {
            Duration left = clock.until(at); // less on each try, so that a retry keeps the lock no longer
            return Durations.isPositive(left) ? contender.endAfter(left) : contender.end();
        };
        cleanups.begin(new PendingCleanup<Boolean>(
                "withdrawal from lock \"" + name + "\"", removal, until, new PendingCleanup.Listener<Boolean>() {
                    @Override
                    public void completed(Boolean wasThere, boolean firstTry) {
                        lastResponse.received();
                        listener.completed(wasThere, firstTry);
                        if (wasThere || !firstTry) {
                            whenRemoved.accept(name);
                        }
                    }

                    @Override
                    public void givenUp(Throwable last) {
                        if (!cleanups.isStopped()) { // if the client closes, the backend gives up its sessions itself
                            contender.abandon();
                        }
                        listener.givenUp(last);
                    }
                }));
    }
}
