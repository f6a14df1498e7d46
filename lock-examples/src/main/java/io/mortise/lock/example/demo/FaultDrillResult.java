// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;

/** Outcome of one fault drill in the run with the lock. */
sealed interface FaultDrillResult {
    /** From the fault to the next grant. */
    Duration recovery();

    /** Whether the lock did what it promises. */
    boolean held();

    /**
     * A holder was killed between its read and its write.
     *
     * @param token the killed holder's
     * @param nextToken that of the next grant
     */
    record Kill(Duration recovery, long token, long nextToken) implements FaultDrillResult {
        @Override
        public boolean held() {
            return nextToken > token;
        }
    }

    /**
     * A holder was stopped between its read and its write, and went on when another had sold.
     *
     * @param token the frozen holder's
     * @param nextToken that of the sale meanwhile
     * @param refused whether its late write was
     * @param believed whether its lease said {@code isHeld()} after that
     */
    record Frozen(Duration recovery, long token, long nextToken, boolean refused, boolean believed)
            implements FaultDrillResult {
        @Override
        public boolean held() {
            return nextToken > token && refused && !believed;
        }
    }
}
