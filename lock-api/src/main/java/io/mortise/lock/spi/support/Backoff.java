// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Computes the pauses of an exponential backoff with jitter. Each pause gets up to a fifth more. */
public final class Backoff {
    private final Duration first;
    private final Duration most;
    private final RandomGenerator random;
    private int tries;

    /**
     * Creates a backoff.
     *
     * @param first the first pause
     * @param most the longest pause, without jitter
     * @param random the source of the jitter
     */
    public Backoff(Duration first, Duration most, RandomGenerator random) {
        this.first = first;
        this.most = most;
        this.random = random;
    }

    /** Returns the next pause. */
    public Duration next() {
        Duration pause = first.multipliedBy(1L << Math.min(tries, 20));
        tries++;
        return jittered(Durations.shorter(pause, most), random);
    }

    /** Starts again with the first pause. */
    public void reset() {
        tries = 0;
    }

    /** Returns the pause plus a random jitter of up to a fifth of it. */
    public static Duration jittered(Duration pause, RandomGenerator random) {
        long fifth = pause.toNanos() / 5;
        return fifth <= 0 ? pause : pause.plusNanos(random.nextLong(fifth));
    }
}
