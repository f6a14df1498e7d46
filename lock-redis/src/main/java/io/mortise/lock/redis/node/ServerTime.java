// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * Time of day by a server's clock, in microseconds. Comparable only with times of the same server, whose clock may have been set in
 * between.
 *
 * @param micros microseconds since 1970, as TIME and the scripts tell them
 */
public record ServerTime(long micros) {
    /** An unknown time: every request that the server must refuse after it is refused. */
    public static final ServerTime UNKNOWN = new ServerTime(0);

    /** Reads the reply to TIME. */
    public static ServerTime of(List<String> secondsAndMicros) {
        return new ServerTime(
                Long.parseLong(secondsAndMicros.get(0)) * 1_000_000 + Long.parseLong(secondsAndMicros.get(1)));
    }

    /** Returns the same as a time of day. */
    public Instant instant() {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Returns the time that much later. */
    public ServerTime plus(Duration amount) {
        return new ServerTime(micros + amount.toNanos() / 1_000);
    }

    /** Returns the time from this one to the other; negative if the other is earlier. */
    public Duration until(ServerTime other) {
        return Duration.ofNanos((other.micros - micros) * 1_000);
    }

    /** Returns whether this time comes before the other. */
    public boolean isBefore(ServerTime other) {
        return micros < other.micros;
    }
}
