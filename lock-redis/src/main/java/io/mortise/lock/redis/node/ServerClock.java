// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The server's clock, estimated from the replies that told its time. It assumes that both run at the same rate within 1 %, and
 * nothing about what they show. Thread-safe; pure arithmetic.
 */
public final class ServerClock {
    private static final Duration MICROSECOND = Duration.ofNanos(1_000);

    /** An answer with the server's time in it: it was read after the request was sent, on our clock. */
    private record Anchor(MonotonicTime sent, ServerTime server) {}

    private volatile @Nullable Anchor anchor;

    /** Records a reply: the server read its clock some time after the request was sent. */
    public void heard(MonotonicTime sent, ServerTime server) {
        anchor = new Anchor(sent, server);
    }

    /** The connection is lost: the next may lead to another server. */
    void forget() {
        anchor = null;
    }

    /** Returns the latest time that the server's clock can show at that instant; {@link ServerTime#UNKNOWN} before the first reply. */
    public ServerTime atMost(MonotonicTime instant) {
        Anchor known = anchor;
        if (known == null) {
            return ServerTime.UNKNOWN;
        }
        Duration since = Durations.longer(Duration.ZERO, known.sent.until(instant));
        return known.server.plus(since).plus(Durations.divide(since, 100)).plus(MICROSECOND);
    }

    /**
     * Returns an instant on our clock that is no later than when the server's showed {@code then}: its clock showed {@code from}
     * after {@code sent} of ours, and has gone on since, at most 1 % too fast.
     */
    public static MonotonicTime noLaterThan(MonotonicTime sent, ServerTime from, ServerTime then) {
        Duration since = from.until(then);
        return sent.plus(since).minus(Durations.divide(since, 100));
    }
}
