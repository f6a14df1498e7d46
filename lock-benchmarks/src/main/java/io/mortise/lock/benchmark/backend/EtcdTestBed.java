// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.etcd.RawEtcd;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Benchmarks Mortise against hand-written transactions and jetcd's {@code Lock} on one etcd server process. */
final class EtcdTestBed implements TestBed {
    static final String NAME = "etcd";

    /** Lease duration of all competitors; long enough for a busy machine. */
    static final Duration LEASE = Duration.ofSeconds(5);

    /** Value of each key, as long as Mortise's owner record, so that all competitors write the same amount. */
    static final ByteSequence VALUE = bytes("-".repeat(150));

    static final List<Competitor> COMPETITORS = List.of(
            new MortiseCompetitor("etcd://", "?lease=" + LEASE.toSeconds() + "s"),
            new EtcdPutIfAbsentCompetitor(),
            new JetcdLockCompetitor());

    private final EtcdTestServer server = EtcdTestServer.start();
    private final RawEtcd counter = server.connect();

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "etcd " + counter.status().version() + ", one server in a separate process, without fsync";
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

    static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    static Client connect(String endpoint) {
        return Client.builder().endpoints("http://" + endpoint).build();
    }

    @Override
    public WriteRoundTripProbe roundTrip(String endpoint) {
        Client client = connect(endpoint);
        ByteSequence key = bytes("round-trip");
        return new WriteRoundTripProbe() {
            @Override
            public void writeOnce() throws Exception {
                client.getKVClient().put(key, VALUE).get();
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    @Override
    public Map<String, Long> requests() {
        return counter.requests();
    }

    /** Returns the requests of a renewal: a keepalive, which is two messages, and a read. Mortise sends few other reads. */
    @Override
    public List<String> keepAlive() {
        return List.of("LeaseKeepAlive", "Range");
    }

    @Override
    public Duration renewal() {
        return LEASE.dividedBy(3);
    }

    @Override
    public List<PerformanceGoal> goals() {
        return List.of(
                PerformanceGoal.ratioAtLeast(0.9, EtcdPutIfAbsentCompetitor.NAME, "one-thread", "cycles/s"),
                PerformanceGoal.ratioAtLeast(0.9, EtcdPutIfAbsentCompetitor.NAME, "sixteen-locks", "cycles/s"),
                // Raw transactions have no queue: a client that finds the lock taken can only try again.
                PerformanceGoal.ratioAtLeast(0.8, EtcdPutIfAbsentCompetitor.NAME, "contended", "hand-offs/s")
                        .by("one-thread", "cycles/s"),
                PerformanceGoal.atMost(2, "crowd", "requests per hand-off"),
                PerformanceGoal.atMost(0, "held", "work per renewal period"),
                PerformanceGoal.atMost(1, "held", "Range per renewal period"),
                PerformanceGoal.atMost(10, "held", "added threads"));
    }

    @Override
    public void close() {
        server.close();
    }
}
