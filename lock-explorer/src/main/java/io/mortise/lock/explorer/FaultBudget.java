// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.Set;

/**
 * The faults that may still happen in a world.
 *
 * @param left the number of faults that are left
 * @param possible the kinds of faults
 */
public record FaultBudget<F extends Enum<F>>(int left, Set<F> possible) {
    /** Returns whether such a fault may happen now. */
    public boolean allows(F fault) {
        return left > 0 && possible.contains(fault);
    }

    /** Returns what is left after one fault. */
    public FaultBudget<F> spent() {
        return new FaultBudget<>(left - 1, possible);
    }
}
