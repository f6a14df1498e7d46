// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Computes the timeout for a single attempt to send a request, usually a fraction of the timeout of the whole request. If one
 * member does not respond, the request can then be sent to another in time. When no request gets a response that fast for
 * longer than an election takes, the store is slow, and each attempt gets the whole request timeout. Thread-safe.
 */
final class RequestTryTimeout {
    private static final int PARTS = 4;
    private static final Duration MIN_PART = Duration.ofMillis(500);

    /** The longest time for which a store may serve nothing although its members are healthy. */
    static final Duration MAX_ELECTION = Duration.ofSeconds(3);

    private final LockClock clock;
    private final Duration part;
    private final Duration whole;

    /** When the first of the consecutive late tries was sent; null if the last one was not late. */
    private volatile @Nullable MonotonicInstant lateSince;

    private volatile boolean slow;

    private RequestTryTimeout(LockClock clock, Duration part, Duration whole) {
        this.clock = clock;
        this.part = part;
        this.whole = whole;
    }

    /** Creates the timeout for a client that knows several members. */
    static RequestTryTimeout forSeveralMembers(LockClock clock, Duration requestTimeout, Duration lease) {
        Duration part = Durations.shorter(requestTimeout, lease).dividedBy(PARTS);
        return new RequestTryTimeout(
                clock, Durations.shorter(Durations.longer(part, MIN_PART), requestTimeout), requestTimeout);
    }

    /** Creates the timeout for a client that has no other member to try. */
    static RequestTryTimeout forSingleMember(LockClock clock, Duration requestTimeout) {
        return new RequestTryTimeout(clock, requestTimeout, requestTimeout);
    }

    /** Returns the timeout for a try that is sent now. */
    Duration current() {
        return slow ? whole : part;
    }

    /** Returns the timeout for a store that is not slow. */
    Duration normal() {
        return part;
    }

    /** Records that a try timed out. */
    synchronized void onTimeout(MonotonicInstant sent) {
        MonotonicInstant since = lateSince;
        if (since == null) {
            since = sent;
            lateSince = since;
        }
        slow = clock.since(since).compareTo(MAX_ELECTION) >= 0;
    }

    /** Records that a try got a reply. */
    void onReply(MonotonicInstant sent) {
        if (lateSince != null && clock.since(sent).compareTo(part) < 0) {
            resetToNormal();
        }
    }

    private synchronized void resetToNormal() {
        lateSince = null;
        slow = false;
    }
}
