// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;

/** Result of killing or freezing one lock holder during the part of the demo that uses the lock. */
sealed interface FaultDrillResult {
    /** Returns the time from the fault to the next grant. */
    Duration recovery();

    /** Returns whether the lock kept its promises. */
    boolean promiseKept();

    /**
     * Result of killing a holder between its read and its write.
     *
     * @param recovery time from the kill to the next grant
     * @param token fencing token of the killed holder
     * @param nextToken fencing token of the next grant
     */
    record Kill(Duration recovery, long token, long nextToken) implements FaultDrillResult {
        @Override
        public boolean promiseKept() {
            return nextToken > token;
        }
    }

    /**
     * Result of pausing a holder between its read and its write until another worker has sold an item.
     *
     * @param recovery time from the pause to that sale
     * @param token fencing token of the paused holder
     * @param nextToken fencing token of that sale
     * @param refused whether the late write of the resumed holder was refused
     * @param heldAfterwards result of {@code Lease.isHeld()} after the late write
     */
    record Frozen(Duration recovery, long token, long nextToken, boolean refused, boolean heldAfterwards)
            implements FaultDrillResult {
        @Override
        public boolean promiseKept() {
            return nextToken > token && refused && !heldAfterwards;
        }
    }
}
