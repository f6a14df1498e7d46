// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Detects pauses in which the process or the machine did not run: a timer then fires late. Not thread-safe. */
final class PauseDetector {
    /** The delay of a timer from which on it counts as a pause of the process, and not as a lack of processor time. */
    private static final Duration MIN_PAUSE = Duration.ofMillis(500);

    private @Nullable Pause latest;

    /**
     * A pause.
     *
     * @param end when the process ran again
     * @param length the least duration of the pause
     */
    private record Pause(MonotonicInstant end, Duration length) {}

    /** Records a pause if a timer that was due at one instant has not fired before now. */
    void timerRuns(MonotonicInstant due, MonotonicInstant now) {
        Duration late = due.until(now);
        Pause known = latest;
        if (late.compareTo(MIN_PAUSE) >= 0
                && (known == null || now.isAfter(known.end) || late.compareTo(known.length) > 0)) {
            latest = new Pause(now, late);
        }
    }

    /** Returns the least duration of the latest pause; empty if none has ended at this instant or later. */
    Optional<Duration> pauseEndedSince(MonotonicInstant instant) {
        return Optional.ofNullable(latest)
                .filter(pause -> !pause.end.isBefore(instant))
                .map(Pause::length);
    }
}
