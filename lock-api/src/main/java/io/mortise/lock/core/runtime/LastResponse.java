// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;

/** Records when the store last responded to a request of the client, including renewals. Rule S15. Thread-safe. */
public final class LastResponse {
    private final LockClock clock;

    @GuardedBy("this")
    private StoreContact contact;

    /** Creates a record in which the opening of the backend counts as the first response. */
    public LastResponse(LockClock clock) {
        this.clock = clock;
        this.contact = new StoreContact(clock.now(), null);
    }

    /** Records that the store responds now. */
    public synchronized void received() {
        contact = new StoreContact(clock.now(), null);
    }

    /**
     * Records that a request had no response.
     *
     * @param sent when the request was sent
     */
    public synchronized void failed(MonotonicInstant sent) {
        contact = contact.failed(sent);
    }

    /** Returns what is known now. */
    public synchronized StoreContact contact() {
        return contact;
    }
}
