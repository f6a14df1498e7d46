// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.WriteRoundTripProbe;
import java.util.Map;
import java.util.TreeMap;

/** Runs one round of a competitor, with the client sessions, exclusion checks and request counts that a scenario needs. */
public final class CompetitorRoundRunner extends CheckedSessions {
    private final TestBed backend;
    private final RoundSize roundSize;

    /**
     * Creates a round, without connecting yet.
     *
     * @param name name for messages
     * @param endpoint address of the store, or of a proxy in front of it
     */
    public CompetitorRoundRunner(
            String name, TestBed backend, Competitor competitor, String endpoint, RoundSize roundSize) {
        super(name, competitor, endpoint);
        this.backend = backend;
        this.roundSize = roundSize;
    }

    /**
     * Runs the scenario and checks mutual exclusion.
     *
     * @throws ExclusionViolationException if two clients held one lock at the same time
     * @throws IllegalStateException if the competitor does not finish in time
     */
    public RoundMeasurements run(Scenario scenario) throws Exception {
        return check(() -> scenario.run(this), roundSize.measured());
    }

    /** Returns the size of this round. */
    public RoundSize roundSize() {
        return roundSize;
    }

    /** Returns the store on which this round runs. */
    public TestBed backend() {
        return backend;
    }

    WriteRoundTripProbe roundTrip() throws Exception {
        return backend.roundTrip(endpoint());
    }

    /** Returns the number of requests since {@code before}, by kind. */
    Map<String, Long> requestsSince(Map<String, Long> before) {
        Map<String, Long> sent = new TreeMap<>();
        backend.requests().forEach((kind, count) -> {
            long more = count - before.getOrDefault(kind, 0L);
            if (more > 0) {
                sent.put(kind, more);
            }
        });
        return sent;
    }

    /** Returns the number of requests since {@code before}, without those that only keep a connection or lease alive. */
    Map<String, Long> workSince(Map<String, Long> before) {
        return work(requestsSince(before));
    }

    /** Returns the given requests without those that only keep a connection or lease alive. */
    Map<String, Long> work(Map<String, Long> requests) {
        Map<String, Long> work = new TreeMap<>(requests);
        work.keySet().removeAll(backend.keepAlive());
        return work;
    }

    static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }
}
