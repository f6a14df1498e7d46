// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;

/**
 * Amount of work in one round.
 *
 * @param measured how long competitors run where the time is free to choose
 * @param smoke whether only to see that it works: the least of everything else
 */
public record RoundSize(Duration measured, boolean smoke) {
    /** {@code full}, or {@code least} in a smoke run. */
    int times(int full, int least) {
        return smoke ? least : full;
    }
}
