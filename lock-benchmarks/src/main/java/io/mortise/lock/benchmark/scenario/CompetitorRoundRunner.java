// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.WriteRoundTripProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/** Runs one round of a competitor, with the client sessions, exclusion checks and request counts that a scenario needs. */
public final class CompetitorRoundRunner implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final String name;
    private final TestBed backend;
    private final Competitor competitor;
    private final String endpoint;
    private final RoundSize roundSize;
    private final List<CompetitorSession> sessions = new ArrayList<>();
    private final Map<String, ExclusionCounter> exclusions = new LinkedHashMap<>();

    /**
     * Creates a round, without connecting yet.
     *
     * @param name name for messages
     * @param endpoint address of the store, or of a proxy in front of it
     */
    public CompetitorRoundRunner(
            String name, TestBed backend, Competitor competitor, String endpoint, RoundSize roundSize) {
        this.name = name;
        this.backend = backend;
        this.competitor = competitor;
        this.endpoint = endpoint;
        this.roundSize = roundSize;
    }

    /**
     * Runs the scenario and checks mutual exclusion.
     *
     * @throws ExclusionViolationException if two clients held one lock at the same time
     * @throws IllegalStateException if the competitor does not finish in time
     */
    public RoundMeasurements run(Scenario scenario) throws Exception {
        try (WorkerThreads one = new WorkerThreads(name, 1)) {
            List<Callable<RoundMeasurements>> turn = List.of(() -> scenario.run(this));
            RoundMeasurements measurements;
            try {
                measurements =
                        one.together(turn, roundSize.measured().plus(LIMIT)).get(0);
            } catch (Exception e) {
                verifyExclusion(Optional.of(e)); // a violation explains more than the failure that it caused
                throw e;
            }
            verifyExclusion(Optional.empty());
            return measurements;
        }
    }

    private void verifyExclusion(Optional<Exception> failure) {
        try {
            exclusions.values().forEach(exclusion -> exclusion.verify(name));
        } catch (ExclusionViolationException e) {
            failure.ifPresent(e::addSuppressed);
            throw e;
        }
    }

    RoundSize roundSize() {
        return roundSize;
    }

    TestBed backend() {
        return backend;
    }

    /** Opens a session that is closed with this round. */
    CompetitorSession open() throws Exception {
        CompetitorSession session = competitor.open(endpoint);
        sessions.add(session);
        return session;
    }

    WriteRoundTripProbe roundTrip() throws Exception {
        return backend.roundTrip(endpoint);
    }

    /** Returns the exclusion check of a lock that a single thread uses. */
    ExclusionCounter alone(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new ExclusionCounter(name, false));
    }

    /** Returns the exclusion check of a lock for which several clients compete. */
    ExclusionCounter shared(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new ExclusionCounter(name, true));
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

    @Override
    public void close() throws Exception {
        Exception failure = null;
        for (CompetitorSession session : sessions) {
            try {
                session.close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
