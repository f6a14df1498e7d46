// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The time that all acquires of a group may take together, counted from the creation of this object. */
final class WaitBudget {
    /** The time within which a healthy store replies; also the tolerance of S9. */
    private static final Duration ENOUGH_FOR_A_REPLY = Duration.ofMillis(50);

    private final @Nullable Duration maxWait;
    private final long start = System.nanoTime();

    /** @param maxWait null for no limit; zero for one attempt for each lock */
    WaitBudget(@Nullable Duration maxWait) {
        this.maxWait = maxWait;
    }

    /** Returns the rest, zero or more; null if there is no limit. */
    @Nullable
    Duration left() {
        if (maxWait == null) {
            return null;
        }
        Duration left = maxWait.minusNanos(System.nanoTime() - start);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Returns whether a limit has passed, so that no further lock is requested. */
    boolean isOver() {
        Duration left = left();
        return left != null && left.isZero() && !maxWaitIsZero();
    }

    /**
     * Returns whether a lock failed only because the budget was almost used up when it was requested: it had no reply yet, and no
     * error. That is the end of the time, no outage (S15).
     *
     * @param left the rest that the request got; null for no limit, zero for one attempt
     */
    static boolean ranOut(@Nullable Duration left, Throwable failure) {
        return left != null
                && Durations.isPositive(left)
                && left.compareTo(ENOUGH_FOR_A_REPLY) < 0
                && failure instanceof BackendUnavailableException
                && failure.getCause() == null;
    }

    private boolean maxWaitIsZero() {
        return maxWait != null && maxWait.isZero();
    }
}
