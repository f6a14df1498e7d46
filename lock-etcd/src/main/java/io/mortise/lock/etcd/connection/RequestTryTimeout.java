// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Computes how long one try of a request waits for its answer. It is a part of the request timeout, so that what a member does
 * not answer can be sent to another in time. A store that answers nothing so fast for longer than an election takes gets the
 * whole request timeout. Thread-safe.
 */
final class RequestTryTimeout {
    private static final int PARTS = 4;
    private static final Duration SHORTEST = Duration.ofMillis(500);

    /** So long a store may serve nothing while its members are well. */
    static final Duration AN_ELECTION = Duration.ofSeconds(3);

    private final LockClock clock;
    private final Duration part;
    private final Duration whole;

    /** When the first try was sent that was late, since the last one that was not. */
    private volatile @Nullable MonotonicTime lateSince;

    private volatile boolean slow;

    private RequestTryTimeout(LockClock clock, Duration part, Duration whole) {
        this.clock = clock;
        this.part = part;
        this.whole = whole;
    }

    /** Of a client that knows several members. */
    static RequestTryTimeout parted(LockClock clock, Duration requestTimeout, Duration lease) {
        Duration part = Durations.shorter(requestTimeout, lease).dividedBy(PARTS);
        return new RequestTryTimeout(
                clock, Durations.shorter(Durations.longer(part, SHORTEST), requestTimeout), requestTimeout);
    }

    /** Of one that has nobody else to ask. */
    static RequestTryTimeout whole(LockClock clock, Duration requestTimeout) {
        return new RequestTryTimeout(clock, requestTimeout, requestTimeout);
    }

    Duration now() {
        return slow ? whole : part;
    }

    /** Of a store that is not slow. */
    Duration part() {
        return part;
    }

    /** A try had no answer in time. */
    synchronized void late(MonotonicTime sent) {
        MonotonicTime since = lateSince;
        if (since == null) {
            since = sent;
            lateSince = since;
        }
        slow = clock.since(since).compareTo(AN_ELECTION) >= 0;
    }

    /** A try was answered. */
    void answered(MonotonicTime sent) {
        if (lateSince != null && clock.since(sent).compareTo(part) < 0) {
            forget();
        }
    }

    private synchronized void forget() {
        lateSince = null;
        slow = false;
    }
}
