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

/** An etcd server of its own, in a process of its own, against hand-written transactions and jetcd's lock. */
final class EtcdTestBed implements TestBed {
    static final String NAME = "etcd";

    /** The same for all competitors. Long enough for a machine that is busy. */
    static final Duration LEASE = Duration.ofSeconds(5);

    /** What a key contains: as long as Mortise's own record is, so that all write as much. */
    static final ByteSequence VALUE = bytes("-".repeat(150));

    private final EtcdTestServer server = EtcdTestServer.start();
    private final RawEtcd counter = server.connect();

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "etcd " + counter.status().version() + ", one server in a process of its own, without fsync";
    }

    @Override
    public List<Competitor> competitors() {
        return List.of(
                new MortiseCompetitor("etcd://", "?lease=" + LEASE.toSeconds() + "s"), new RawJetcd(), new JetcdLock());
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
            public void once() throws Exception {
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

    /** A renewal is a keepalive, which is two messages, and a read; Mortise reads for little else. */
    @Override
    public List<String> keepAlive() {
        return List.of("LeaseKeepAlive", "Range");
    }

    @Override
    public Duration renewal() {
        return LEASE.dividedBy(3);
    }

    @Override
    public List<PerformanceTarget> goals() {
        return List.of(
                PerformanceTarget.ratioAtLeast(0.9, RawJetcd.NAME, "one-thread", "cycles/s"),
                PerformanceTarget.ratioAtLeast(0.9, RawJetcd.NAME, "sixteen-locks", "cycles/s"),
                // Raw transactions have no queue: those who find the lock taken can only try again.
                PerformanceTarget.ratioAtLeast(0.8, RawJetcd.NAME, "contended", "hand-offs/s")
                        .by("one-thread", "cycles/s"),
                PerformanceTarget.atMost(2, "crowd", "requests a hand-off"),
                PerformanceTarget.atMost(0, "held", "work a renewal period"),
                PerformanceTarget.atMost(1, "held", "Range a renewal period"),
                PerformanceTarget.atMost(10, "held", "threads more"));
    }

    @Override
    public void close() {
        server.close();
    }
}
