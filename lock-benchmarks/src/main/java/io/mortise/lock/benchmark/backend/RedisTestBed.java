// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A Redis server of its own, in a process of its own, against hand-written commands and Redisson. */
final class RedisTestBed implements TestBed {
    static final String NAME = "redis";

    /** The same for all competitors. */
    static final Duration LEASE = Duration.ofSeconds(3);

    /** What a key contains: as long as Mortise's own record is, so that all write as much. */
    static final int VALUE_LENGTH = 150;

    private final RedisTestServer server = RedisTestServer.start();
    private final RawRedis counter = server.connect();
    private long ownReads;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Redis " + counter.info("server").get("redis_version") + ", one server in a process of its own, no disk";
    }

    @Override
    public List<Competitor> competitors() {
        return List.of(
                new MortiseCompetitor("redis://", "?lease=" + LEASE.toSeconds() + "s"),
                new RawLettuce(),
                new RedissonLock());
    }

    @Override
    public String endpoint() {
        return "127.0.0.1:" + server.port();
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    @Override
    public WriteRoundTripProbe roundTrip(String endpoint) {
        RedisClient client = RedisClient.create(uri(endpoint));
        StatefulRedisConnection<String, String> connection = client.connect();
        return new WriteRoundTripProbe() {
            @Override
            public void once() {
                connection.sync().set("round-trip", "-".repeat(VALUE_LENGTH));
            }

            @Override
            public void close() {
                client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
            }
        };
    }

    static RedisURI uri(String endpoint) {
        return RedisURI.create("redis://" + endpoint);
    }

    /**
     * Redis counts commands, but also those inside scripts, and SET is sent by some and is inside the scripts of others. So
     * what is counted is how often it read from a connection: requests that travel together count once.
     */
    @Override
    public synchronized Map<String, Long> requests() {
        ownReads++;
        return Map.of("read", Long.parseLong(counter.info("stats").get("total_reads_processed")) - ownReads);
    }

    @Override
    public List<String> keepAlive() {
        return List.of();
    }

    @Override
    public Duration renewal() {
        return LEASE.dividedBy(3);
    }

    @Override
    public List<PerformanceTarget> goals() {
        return List.of(
                PerformanceTarget.ratioAtLeast(0.9, RawLettuce.NAME, "one-thread", "cycles/s"),
                PerformanceTarget.ratioAtLeast(0.95, RawLettuce.NAME, "sixteen-locks", "cycles/s"),
                // Raw commands have no queue: those who find the lock taken can only try again.
                PerformanceTarget.ratioAtLeast(0.9, RawLettuce.NAME, "contended", "hand-offs/s")
                        .by("one-thread", "cycles/s"),
                PerformanceTarget.atMost(1.2, "crowd", "requests a hand-off"),
                PerformanceTarget.atMost(10, "held", "work a renewal period"),
                PerformanceTarget.atMost(10, "held", "threads more"));
    }

    @Override
    public void close() {
        counter.close();
        server.close();
    }
}
