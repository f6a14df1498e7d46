// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Time settings for starting a ZooKeeper test server: tick, session timeouts and container check. Immutable.
 *
 * @param tick ZooKeeper's unit of time; a session expires up to one tick late
 * @param minSession minimum session timeout that a client can request
 * @param maxSession maximum session timeout that a client can request
 * @param containerCheck interval between removals of empty container nodes
 */
public record ZooKeeperServerOptions(Duration tick, Duration minSession, Duration maxSession, Duration containerCheck) {
    /** Returns the defaults: tick 200 ms, sessions from 400 ms to 60 s, containers checked every minute, as in ZooKeeper. */
    public static ZooKeeperServerOptions defaults() {
        return new ZooKeeperServerOptions(
                Duration.ofMillis(200), Duration.ofMillis(400), Duration.ofSeconds(60), Duration.ofMinutes(1));
    }

    /** Returns a copy with another tick; session timeouts below two ticks are not useful. */
    public ZooKeeperServerOptions withTick(Duration value) {
        return new ZooKeeperServerOptions(value, minSession, maxSession, containerCheck);
    }

    /** Returns a copy with other limits of the session timeout. */
    public ZooKeeperServerOptions withSessions(Duration min, Duration max) {
        return new ZooKeeperServerOptions(tick, min, max, containerCheck);
    }

    /** Returns a copy with another interval between removals of empty containers. */
    public ZooKeeperServerOptions withContainerCheck(Duration value) {
        return new ZooKeeperServerOptions(tick, minSession, maxSession, value);
    }

    /** Returns the options as arguments for a child JVM; {@link #parse} is the inverse. */
    List<String> toArgs() {
        return Stream.of(tick, minSession, maxSession, containerCheck)
                .map(duration -> Long.toString(duration.toMillis()))
                .toList();
    }

    static ZooKeeperServerOptions parse(String... args) {
        List<Duration> values =
                Arrays.stream(args).map(Long::valueOf).map(Duration::ofMillis).toList();
        return new ZooKeeperServerOptions(values.get(0), values.get(1), values.get(2), values.get(3));
    }
}
