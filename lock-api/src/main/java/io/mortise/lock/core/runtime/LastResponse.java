// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import org.jspecify.annotations.Nullable;

/** Records when the store last responded to a request of the client, including renewals. Rule S15. Thread-safe. */
public final class LastResponse {
    private final LockClock clock;

    @GuardedBy("this")
    private MonotonicInstant last;

    @GuardedBy("this")
    private @Nullable MonotonicInstant failingSince;

    /** Creates a record in which the opening of the backend counts as the first response. */
    public LastResponse(LockClock clock) {
        this.clock = clock;
        this.last = clock.now();
    }

    /** Records that the store responds now. */
    public synchronized void received() {
        last = clock.now();
        failingSince = null;
    }

    /**
     * Records that a request had no response.
     *
     * @param sent when the request was sent
     */
    public synchronized void failed(MonotonicInstant sent) {
        if (failingSince == null) {
            failingSince = last.orLater(sent);
        }
    }

    /** Returns what is known now. */
    public synchronized StoreContact contact() {
        return new StoreContact(last, failingSince);
    }
}
