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

/** Benchmarks Mortise against hand-written commands and Redisson's {@code RLock} on one Redis server process. */
final class RedisTestBed implements TestBed {
    static final String NAME = "redis";

    /** Lease duration of all competitors. */
    static final Duration LEASE = Duration.ofSeconds(3);

    /** Length of each key's value, as long as Mortise's owner record, so that all competitors write the same amount. */
    static final int VALUE_LENGTH = 150;

    static final List<Competitor> COMPETITORS = List.of(
            new MortiseCompetitor("redis://", "?lease=" + LEASE.toSeconds() + "s"),
            new RawLettuceCompetitor(),
            new RedissonCompetitor());

    private final RedisTestServer server = RedisTestServer.start();
    private final RawRedis counter = server.connect();
    private long ownReads;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Redis " + counter.info("server").get("redis_version")
                + ", one server in a separate process, without persistence";
    }

    @Override
    public List<Competitor> competitors() {
        return COMPETITORS;
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
            public void writeOnce() {
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
     * Returns how often the server has read from a connection; requests that arrive together count once. The server's command
     * counters would not be comparable, since they include commands inside scripts: some competitors send SET, others call it
     * in a script.
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
    public List<PerformanceGoal> goals() {
        return List.of(
                PerformanceGoal.ratioAtLeast(0.9, RawLettuceCompetitor.NAME, "one-thread", "cycles/s"),
                PerformanceGoal.ratioAtLeast(0.95, RawLettuceCompetitor.NAME, "sixteen-locks", "cycles/s"),
                // Raw commands have no queue: a client that finds the lock taken can only try again.
                PerformanceGoal.ratioAtLeast(0.9, RawLettuceCompetitor.NAME, "contended", "hand-offs/s")
                        .by("one-thread", "cycles/s"),
                PerformanceGoal.atMost(1.2, "crowd", "requests per hand-off"),
                PerformanceGoal.atMost(10, "held", "work per renewal period"),
                PerformanceGoal.atMost(10, "held", "added threads"));
    }

    @Override
    public void close() {
        counter.close();
        server.close();
    }
}
