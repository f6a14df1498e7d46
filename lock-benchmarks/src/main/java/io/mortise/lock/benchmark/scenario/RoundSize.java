// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;

/**
 * The duration or the number of operations of one benchmark round.
 *
 * @param measured how long competitors run in scenarios of variable duration
 * @param smoke whether the round is a smoke test, in which each scenario runs as few operations as possible
 */
public record RoundSize(Duration measured, boolean smoke) {
    /** Returns {@code full}, or {@code smallest} in a smoke test. */
    int times(int full, int smallest) {
        return smoke ? smallest : full;
    }
}
