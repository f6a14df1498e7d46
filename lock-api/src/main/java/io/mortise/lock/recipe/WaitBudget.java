// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The time that all acquires of a group may take together, counted from the creation of this object. */
final class WaitBudget {
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

    private boolean maxWaitIsZero() {
        return maxWait != null && maxWait.isZero();
    }
}
