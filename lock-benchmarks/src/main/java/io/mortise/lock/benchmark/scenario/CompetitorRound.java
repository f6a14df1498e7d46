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

/** One round of one competitor: its sessions, locks and requests. */
public final class CompetitorRound implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final String name;
    private final TestBed backend;
    private final Competitor competitor;
    private final String endpoint;
    private final RoundSize effort;
    private final List<CompetitorSession> sessions = new ArrayList<>();
    private final Map<String, ExclusionCounter> exclusions = new LinkedHashMap<>();

    /**
     * @param name for messages
     * @param endpoint the backend's own, or that of a line in front of it
     */
    public CompetitorRound(String name, TestBed backend, Competitor competitor, String endpoint, RoundSize effort) {
        this.name = name;
        this.backend = backend;
        this.competitor = competitor;
        this.endpoint = endpoint;
        this.effort = effort;
    }

    /**
     * Measures, and looks after it.
     *
     * @throws ExclusionViolationException if a lock was held twice at once
     * @throws IllegalStateException if the competitor never ends
     */
    public RoundMeasurements run(Scenario scenario) throws Exception {
        try (WorkerThreads one = new WorkerThreads(name, 1)) {
            List<Callable<RoundMeasurements>> turn = List.of(() -> scenario.run(this));
            RoundMeasurements figures;
            try {
                figures = one.together(turn, effort.measured().plus(LIMIT)).get(0);
            } catch (Exception e) {
                verifyExclusion(Optional.of(e)); // says more than what followed from it
                throw e;
            }
            verifyExclusion(Optional.empty());
            return figures;
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

    RoundSize effort() {
        return effort;
    }

    TestBed backend() {
        return backend;
    }

    /** A new connection, closed with the trial. */
    CompetitorSession open() throws Exception {
        CompetitorSession session = competitor.open(endpoint);
        sessions.add(session);
        return session;
    }

    WriteRoundTripProbe roundTrip() throws Exception {
        return backend.roundTrip(endpoint);
    }

    /** The watch over a lock that one thread uses. */
    ExclusionCounter alone(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new ExclusionCounter(name, false));
    }

    /** The watch over a lock that several clients want. */
    ExclusionCounter shared(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new ExclusionCounter(name, true));
    }

    /** Requests since {@code before}, by kind. */
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

    /** The same, without those that only keep something alive. */
    Map<String, Long> workSince(Map<String, Long> before) {
        return work(requestsSince(before));
    }

    /** Only those that do not merely keep something alive. */
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
                failure = e;
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
