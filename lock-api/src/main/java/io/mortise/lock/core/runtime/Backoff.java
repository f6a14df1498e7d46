// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Growing pauses between tries: they double from {@code first} to {@code most}, each with up to a fifth of jitter. */
public final class Backoff {
    private final Duration first;
    private final Duration most;
    private final RandomGenerator random;
    private int tries;

    public Backoff(Duration first, Duration most, RandomGenerator random) {
        this.first = first;
        this.most = most;
        this.random = random;
    }

    public Duration next() {
        Duration pause = first.multipliedBy(1L << Math.min(tries, 20));
        tries++;
        return jittered(Durations.shorter(pause, most), random);
    }

    public void reset() {
        tries = 0;
    }

    public static Duration jittered(Duration pause, RandomGenerator random) {
        long fifth = pause.toNanos() / 5;
        return fifth <= 0 ? pause : pause.plusNanos(random.nextLong(fifth));
    }
}
