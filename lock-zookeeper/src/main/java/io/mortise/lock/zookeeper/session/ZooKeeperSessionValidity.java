// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Optional;

/**
 * Tracks until when a session is proved alive, on which all its grants depend.
 *
 * <p>An answered write proves it, since only a server in touch with a majority can answer one: a server that is cut off still
 * answers pings, and a leader that is cut off answers {@code sync}s.
 */
public final class ZooKeeperSessionValidity extends GrantValidity {
    private final ZooKeeperSession session;
    private final Duration sessionTimeout;
    private final SessionDeadlineCalculator deadlines;

    /**
     * Starts with a session whose first request has just been answered.
     *
     * @param sessionTimeout as negotiated
     */
    ZooKeeperSessionValidity(ZooKeeperSession session, LockClock clock, Duration sessionTimeout, MonotonicTime sent) {
        super(
                clock,
                sessionTimeout.dividedBy(5),
                SessionDeadlineCalculator.firstDeadline(sessionTimeout, sent, session.isManaged()));
        this.session = session;
        this.sessionTimeout = sessionTimeout;
        this.deadlines = new SessionDeadlineCalculator(sessionTimeout, sent, clock.now(), session.isManaged());
    }

    /** Sends one renewal for all grants of the session. */
    public void renew() {
        session.renew(this);
    }

    /** Moves the deadline after a renewal that was answered just now. */
    void renewed(MonotonicTime sent, MonotonicTime received) {
        extend(deadlines.answered(sent, received));
    }

    /** Returns when an extra renewal should follow because the latest one proved little; empty if none should. */
    Optional<Duration> followUpAfter() {
        return deadlines.provedLittle() ? Optional.of(deadlines.reportInterval()) : Optional.empty();
    }

    /** Returns how long a server may answer nothing before the client must look for another one to meet the deadline. */
    Duration silenceLimit() {
        return sessionTimeout.dividedBy(4);
    }

    /** Returns the session timeout as negotiated. */
    public Duration sessionTimeout() {
        return sessionTimeout;
    }

    @Override
    protected void onLost(LossReason reason) {
        session.over(reason);
    }
}
