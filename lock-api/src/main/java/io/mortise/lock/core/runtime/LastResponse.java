// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Remembers when the store last answered any request, renewals included (S15). */
public final class LastResponse {
    private final LockClock clock;
    private volatile long last;

    @GuardedBy("this")
    private @Nullable Long failingSince;

    /** Opening the backend counts as the first response. */
    public LastResponse(LockClock clock) {
        this.clock = clock;
        this.last = clock.nanoTime();
    }

    public synchronized void received() {
        last = clock.nanoTime();
        failingSince = null;
    }

    /** A request that was sent then has had no answer. */
    public synchronized void failed(long sent) {
        if (failingSince == null) {
            failingSince = sent - last > 0 ? sent : last;
        }
    }

    /** For how long requests have had no answer; zero while they have. Not the time in which nobody asked. */
    public synchronized Duration failing() {
        return failingSince == null ? Duration.ZERO : Duration.ofNanos(clock.nanoTime() - failingSince);
    }

    public Duration since() {
        return Duration.ofNanos(clock.nanoTime() - last);
    }

    public boolean within(Duration limit) {
        return since().compareTo(limit) < 0;
    }
}
