// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * The wall-clock time of a Redis server, in microseconds since 1970. It is comparable only with times of the same server, whose
 * clock may have been set in between.
 *
 * @param micros microseconds since 1970, as in the replies of TIME and of the scripts
 */
public record ServerTime(long micros) {
    /** An unknown time, which has passed on every server: a request with this time limit is always refused. */
    public static final ServerTime UNKNOWN = new ServerTime(0);

    /** Parses the reply to TIME. */
    public static ServerTime of(List<String> secondsAndMicros) {
        return new ServerTime(
                Long.parseLong(secondsAndMicros.get(0)) * 1_000_000 + Long.parseLong(secondsAndMicros.get(1)));
    }

    /** Returns this time as an instant. */
    public Instant instant() {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Returns the time that is later by this amount. */
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
