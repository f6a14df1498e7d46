// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The results of an acquire operation's attempts, as far as they matter to the next one. An immutable value.
 *
 * @param busy whether the latest result was "busy"
 * @param displaced whether the contender was displaced since the latest "busy"
 * @param failures the attempts that failed since the latest "busy"
 * @param failingSince when the first of them was sent; null if there is none
 * @param lastFailure the latest failure, also before "busy"; null if there was none
 */
record AttemptHistory(
        boolean busy,
        boolean displaced,
        int failures,
        @Nullable MonotonicInstant failingSince,
        @Nullable LockException lastFailure) {
    static final AttemptHistory NONE = new AttemptHistory(false, false, 0, null, null);

    /** The shortest pause, so that a backend which returns a pause of zero does not cause a busy loop. */
    private static final Duration SHORTEST_RETRY = Duration.ofMillis(1);

    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    AttemptHistory afterBusy() {
        return new AttemptHistory(true, false, 0, null, lastFailure);
    }

    AttemptHistory afterDisplaced(String why) {
        LockException failure =
                lastFailure == null ? new BackendUnavailableException(why) : lastFailure; // a failure says more
        return new AttemptHistory(false, true, failures, failingSince, failure);
    }

    AttemptHistory afterFailure(LockException cause) {
        return new AttemptHistory(false, displaced, failures, failingSince, cause);
    }

    /** Counts an attempt that was sent then, and after which there is a pause. */
    AttemptHistory withFailureOf(MonotonicInstant sent) {
        return new AttemptHistory(
                busy, displaced, failures + 1, failingSince == null ? sent : failingSince, lastFailure);
    }

    /** Returns the pause before the attempt after the latest of the failures. */
    Duration backoff(double jitter) {
        Duration pause = FIRST_RETRY.multipliedBy(1L << Math.min(failures - 1, 20));
        return jittered(Durations.shorter(pause, LONGEST_RETRY), jitter);
    }

    /**
     * Returns the pause after "busy".
     *
     * @param retryAfter any duration, also one that stands for ever
     */
    static Duration pauseAfterBusy(Duration retryAfter, double jitter) {
        return jittered(
                Durations.shorter(Durations.longer(retryAfter, SHORTEST_RETRY), DurationLimits.LONGEST), jitter);
    }

    /** @param jitter from 0 to 1, for up to a fifth more */
    private static Duration jittered(Duration pause, double jitter) {
        long fifth = pause.toNanos() / 5;
        return pause.plusNanos((long) (fifth * jitter));
    }
}
