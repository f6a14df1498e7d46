// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Backend;
import io.mortise.lock.benchmark.backend.Contender;
import io.mortise.lock.benchmark.backend.RoundTrip;
import io.mortise.lock.benchmark.backend.Session;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One round of one contender: opens its sessions, watches over its locks, counts its requests. For one thread. */
public final class Trial implements AutoCloseable {
    private final String name;
    private final Backend backend;
    private final Contender contender;
    private final String endpoint;
    private final Effort effort;
    private final List<Session> sessions = new ArrayList<>();
    private final Map<String, Exclusion> exclusions = new LinkedHashMap<>();

    /**
     * @param name for messages
     * @param endpoint the backend's own, or that of a line in front of it
     */
    public Trial(String name, Backend backend, Contender contender, String endpoint, Effort effort) {
        this.name = name;
        this.backend = backend;
        this.contender = contender;
        this.endpoint = endpoint;
        this.effort = effort;
    }

    Effort effort() {
        return effort;
    }

    Backend backend() {
        return backend;
    }

    /** A new connection, closed with the trial. */
    Session open() throws Exception {
        Session session = contender.open(endpoint);
        sessions.add(session);
        return session;
    }

    RoundTrip roundTrip() throws Exception {
        return backend.roundTrip(endpoint);
    }

    /** The watch over a lock that one thread uses. */
    Exclusion alone(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new Exclusion(name, false));
    }

    /** The watch over a lock that several clients want. */
    Exclusion shared(String lock) {
        return exclusions.computeIfAbsent(lock, name -> new Exclusion(name, true));
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
        Map<String, Long> sent = requestsSince(before);
        sent.keySet().removeAll(backend.keepAlive());
        return sent;
    }

    static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * To be called when all workers have ended.
     *
     * @throws ExclusionViolated if a lock was held twice at once
     */
    public void verify() {
        exclusions.values().forEach(exclusion -> exclusion.verify(name));
    }

    @Override
    public void close() throws Exception {
        for (Session session : sessions) {
            session.close();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
