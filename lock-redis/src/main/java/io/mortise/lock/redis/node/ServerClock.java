// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Estimates a server's clock from the timestamps in its replies. It assumes that both clocks run at the same rate within 1 %,
 * and nothing about what they show. Thread-safe; pure arithmetic.
 */
public final class ServerClock {
    private static final Duration MICROSECOND = Duration.ofNanos(1_000);

    /** A server's time, which the server read after the request was sent, and the time of sending on our clock. */
    private record Anchor(MonotonicInstant sent, ServerTime server) {}

    private volatile @Nullable Anchor anchor;

    /** Records the time in a reply, which the server read at some time after the request was sent. */
    public void onReply(MonotonicInstant sent, ServerTime server) {
        anchor = new Anchor(sent, server);
    }

    /** Discards the estimate when a connection is lost, since the next one may lead to another server. */
    void forget() {
        anchor = null;
    }

    /**
     * Returns the latest time that the server's clock can show at that instant; {@link ServerTime#UNKNOWN} before the first
     * reply. If the last reply is so old that the clock may have drifted further than {@code mostDrift}, it may show a later time.
     */
    public ServerTime latestTimeAt(MonotonicInstant instant, Duration mostDrift) {
        Anchor known = anchor;
        if (known == null) {
            return ServerTime.UNKNOWN;
        }
        Duration since = Durations.longer(Duration.ZERO, known.sent.until(instant));
        Duration drift = Durations.shorter(Durations.divide(since, 100), mostDrift);
        return known.server.plus(since).plus(drift).plus(MICROSECOND);
    }

    /**
     * Returns an instant on our clock that is no later than the moment at which the server's clock showed {@code then}. The
     * server's clock is known to have shown {@code from} after {@code sent} on ours, and to run at most 1 % too fast.
     */
    public static MonotonicInstant noLaterThan(MonotonicInstant sent, ServerTime from, ServerTime then) {
        Duration since = from.until(then);
        return sent.plus(since).minus(Durations.divide(since, 100));
    }
}
