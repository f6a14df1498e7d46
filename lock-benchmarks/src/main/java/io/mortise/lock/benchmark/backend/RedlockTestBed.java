// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Benchmarks Mortise against a hand-written Redlock and Redisson's Redlock, on five independent Redis server processes. */
final class RedlockTestBed implements TestBed {
    static final String NAME = "redlock";

    private static final int MASTERS = 5;

    static final List<Competitor> COMPETITORS = List.of(
            new MortiseCompetitor(
                    "redlock://", "?lease=" + RedisTestBed.LEASE.toSeconds() + "s&testOnlyNewMasters=true"),
            new RawRedlockCompetitor(),
            new RedissonRedlockCompetitor());

    private final List<RedisTestServer> servers = new ArrayList<>();
    private final List<RawRedis> counters = new ArrayList<>();
    private long ownReads;

    RedlockTestBed() {
        for (int master = 0; master < MASTERS; master++) {
            RedisTestServer server = RedisTestServer.start();
            servers.add(server);
            counters.add(server.connect());
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Redis " + counters.get(0).info("server").get("redis_version") + ", " + MASTERS
                + " masters in separate processes, without persistence";
    }

    @Override
    public List<Competitor> competitors() {
        return COMPETITORS;
    }

    @Override
    public String endpoint() {
        return servers.stream().map(server -> "127.0.0.1:" + server.port()).collect(Collectors.joining(","));
    }

    static List<String> masters(String endpoint) {
        return List.of(endpoint.split(",", -1));
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    /** Returns a probe whose write counts as acknowledged once a majority of the masters has acknowledged it. */
    @Override
    public WriteRoundTripProbe roundTrip(String endpoint) {
        RawMasterConnections masters = new RawMasterConnections(endpoint);
        return new WriteRoundTripProbe() {
            @Override
            public void writeOnce() {
                masters.majority(
                        commands -> commands.set("round-trip", "-".repeat(RedisTestBed.VALUE_LENGTH)), "OK"::equals);
            }

            @Override
            public void close() {
                masters.close();
            }
        };
    }

    /** Returns the sum over all masters of what {@link RedisTestBed#requests()} counts on one server. */
    @Override
    public synchronized Map<String, Long> requests() {
        ownReads++;
        long reads = 0;
        for (RawRedis counter : counters) {
            reads += Long.parseLong(counter.info("stats").get("total_reads_processed")) - ownReads;
        }
        return Map.of("read", reads);
    }

    @Override
    public List<String> keepAlive() {
        return List.of();
    }

    @Override
    public Duration renewal() {
        return RedisTestBed.LEASE.dividedBy(3);
    }

    @Override
    public List<PerformanceGoal> goals() {
        return List.of(
                PerformanceGoal.ratioAtLeast(0.9, RawRedlockCompetitor.NAME, "one-thread", "cycles/s"),
                PerformanceGoal.ratioAtLeast(0.85, RawRedlockCompetitor.NAME, "sixteen-locks", "cycles/s"),
                PerformanceGoal.atMost(12, "crowd", "requests per hand-off"),
                PerformanceGoal.atMost(10 * MASTERS, "held", "work per renewal period"),
                PerformanceGoal.atMost(10, "held", "added threads"));
    }

    @Override
    public void close() {
        counters.forEach(RawRedis::close);
        servers.forEach(RedisTestServer::close);
    }
}
