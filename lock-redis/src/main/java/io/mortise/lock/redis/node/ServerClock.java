// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import org.jspecify.annotations.Nullable;

/**
 * The server's clock, estimated from the replies that told its time. It assumes that both run at the same rate within 1 %, and
 * nothing about what they show. Thread-safe; pure arithmetic.
 */
public final class ServerClock {
    /** An answer with the server's time in it: it was read after the request was sent, on our clock. */
    private record Anchor(long sentNanos, long serverMicros) {}

    private volatile @Nullable Anchor anchor;

    /** The request was sent at {@code sentNanos}; the server read its clock some time after that. */
    public void heard(long sentNanos, long serverMicros) {
        anchor = new Anchor(sentNanos, serverMicros);
    }

    /** The connection is lost: the next may lead to another server. */
    void forget() {
        anchor = null;
    }

    /** The latest that the server's clock can show at that instant of ours; 0 if nothing was heard yet. */
    public long atMost(long nanos) {
        Anchor known = anchor;
        if (known == null) {
            return 0;
        }
        long since = Math.max(0, (nanos - known.sentNanos) / 1_000);
        return known.serverMicros + since + since / 100 + 1;
    }

    /**
     * An instant on our clock that is no later than when the server's showed {@code thenMicros}: its clock showed {@code
     * fromMicros} after {@code sentNanos} of ours, and has gone on since, at most 1 % too fast.
     */
    public static long noLaterThan(long sentNanos, long fromMicros, long thenMicros) {
        long since = (thenMicros - fromMicros) * 1_000;
        return sentNanos + since - since / 100;
    }
}
