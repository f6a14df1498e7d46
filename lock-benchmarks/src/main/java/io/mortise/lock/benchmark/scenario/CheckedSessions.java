// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/** The client sessions of one competitor in one round, with an exclusion check for each lock. */
class CheckedSessions implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final String name;
    private final Competitor competitor;
    private final String endpoint;
    private final List<CompetitorSession> sessions = new ArrayList<>();
    private final Map<String, ExclusionCounter> exclusions = new LinkedHashMap<>();

    /**
     * Creates an object without sessions.
     *
     * @param name name of the round, for messages
     * @param endpoint address of the store, or of a proxy in front of it
     */
    CheckedSessions(String name, Competitor competitor, String endpoint) {
        this.name = name;
        this.competitor = competitor;
        this.endpoint = endpoint;
    }

    /** Returns the competitor of this round. */
    public final Competitor competitor() {
        return competitor;
    }

    /** Returns the address of the store, or of a proxy in front of it. */
    public final String endpoint() {
        return endpoint;
    }

    /**
     * Runs the round's work and checks mutual exclusion.
     *
     * @param measured how long the work should take
     * @throws ExclusionViolationException if two clients held one lock at the same time
     * @throws IllegalStateException if the competitor does not finish in time
     */
    final <T> T check(Callable<T> work, Duration measured) throws Exception {
        try (WorkerThreads one = new WorkerThreads(name, 1)) {
            T result;
            try {
                result = one.together(List.of(work), measured.plus(LIMIT)).get(0);
            } catch (Exception e) {
                verifyExclusion(Optional.of(e)); // a violation explains more than the failure that it caused
                throw e;
            }
            verifyExclusion(Optional.empty());
            return result;
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

    /** Opens a session that is closed with this round. */
    final CompetitorSession open() throws Exception {
        CompetitorSession session = competitor.open(endpoint);
        sessions.add(session);
        return session;
    }

    /** Returns the exclusion check of a lock that a single thread uses. */
    final ExclusionCounter alone(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new ExclusionCounter(name, false));
    }

    /** Returns the exclusion check of a lock for which several clients compete. */
    final ExclusionCounter shared(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new ExclusionCounter(name, true));
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
