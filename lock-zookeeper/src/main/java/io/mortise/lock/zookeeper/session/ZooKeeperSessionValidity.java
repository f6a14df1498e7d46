// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;

/**
 * Tracks the time until which a ZooKeeper session, and thus each grant on it, is known to be valid.
 *
 * <p>A completed write proves that the session is alive, since only a server that is connected to a majority can complete one.
 * A server that is cut off still replies to pings, and a leader that is cut off still replies to {@code sync} requests.
 */
public final class ZooKeeperSessionValidity extends GrantValidity {
    private final ZooKeeperSession session;
    private final Duration sessionTimeout;
    private final SessionDeadlineCalculator deadlines;

    /**
     * Creates the validity of a session whose first request has just completed.
     *
     * @param sessionTimeout the negotiated session timeout
     * @param sent the time when the first request was sent
     */
    ZooKeeperSessionValidity(
            ZooKeeperSession session, LockClock clock, Duration sessionTimeout, MonotonicInstant sent) {
        super(
                clock,
                sessionTimeout.dividedBy(5),
                SessionDeadlineCalculator.firstDeadline(sessionTimeout, sent, session.isManaged()));
        this.session = session;
        this.sessionTimeout = sessionTimeout;
        this.deadlines = new SessionDeadlineCalculator(sessionTimeout, sent, clock.now(), session.isManaged());
    }

    /** Sends one renewal request for all grants of the session. */
    public void renew() {
        session.renew(this);
    }

    /** Extends the deadline after a renewal has completed. */
    void renewed(MonotonicInstant sent, MonotonicInstant received) {
        extend(deadlines.onReply(sent, received));
    }

    /**
     * Returns the time after which an extra renewal should follow, because the latest one did not prove enough; empty if none.
     */
    Optional<Duration> followUpAfter() {
        return deadlines.needsFollowUp() ? Optional.of(deadlines.reportInterval()) : Optional.empty();
    }

    /** Returns how long a server may send no response before the client must switch to another one to meet the deadline. */
    Duration silenceLimit() {
        return sessionTimeout.dividedBy(4);
    }

    /** Returns the negotiated session timeout. */
    public Duration sessionTimeout() {
        return sessionTimeout;
    }

    @Override
    protected void onLost(LossReason reason) {
        session.end(reason);
    }
}
