// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Remembers when the store last answered any request, renewals included (S15). */
public final class LastResponse {
    private final LockClock clock;
    private volatile MonotonicTime last;

    @GuardedBy("this")
    private @Nullable MonotonicTime failingSince;

    /** Opening the backend counts as the first response. */
    public LastResponse(LockClock clock) {
        this.clock = clock;
        this.last = clock.now();
    }

    public synchronized void received() {
        last = clock.now();
        failingSince = null;
    }

    /** A request that was sent then has had no answer. */
    public synchronized void failed(MonotonicTime sent) {
        if (failingSince == null) {
            failingSince = last.orLater(sent);
        }
    }

    /** For how long requests have had no answer; zero while they have. Not the time in which nobody asked. */
    public synchronized Duration failing() {
        return failingSince == null ? Duration.ZERO : clock.since(failingSince);
    }

    public Duration since() {
        return clock.since(last);
    }

    public boolean within(Duration limit) {
        return since().compareTo(limit) < 0;
    }
}
