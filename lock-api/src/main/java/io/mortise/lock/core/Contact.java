// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/** When the store last answered anything, renewals included (S15). */
final class Contact {
    private final LockClock clock;
    private volatile long last;

    /** Opening the backend was the first contact. */
    Contact(LockClock clock) {
        this.clock = clock;
        this.last = clock.nanoTime();
    }

    void made() {
        last = clock.nanoTime();
    }

    Duration since() {
        return Duration.ofNanos(clock.nanoTime() - last);
    }

    boolean within(Duration limit) {
        return since().compareTo(limit) < 0;
    }
}
