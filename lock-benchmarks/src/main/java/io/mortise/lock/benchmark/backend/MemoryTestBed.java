// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.mortise.lock.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Benchmarks Mortise on the in-memory backend, to measure the overhead of its core alone. */
final class MemoryTestBed implements TestBed {
    static final String NAME = "memory";

    private static final String STORE = "benchmark";

    static final List<Competitor> COMPETITORS =
            List.of(new MortiseCompetitor("memory:", ""), new JdkSemaphoreCompetitor());

    // A named store is dropped when nothing refers to it any more.
    private final MemoryStore store = MemoryStore.named(STORE);

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "a map in this JVM";
    }

    @Override
    public List<Competitor> competitors() {
        return COMPETITORS;
    }

    @Override
    public String endpoint() {
        return STORE;
    }

    @Override
    public boolean isRemote() {
        return false;
    }

    @Override
    public WriteRoundTripProbe roundTrip(String endpoint) {
        throw new UnsupportedOperationException("the in-memory store has no connection: " + store);
    }

    @Override
    public Map<String, Long> requests() {
        return Map.of();
    }

    @Override
    public List<String> keepAlive() {
        return List.of();
    }

    @Override
    public Duration renewal() {
        return Duration.ofMillis(100); // no requests are counted, so any duration will do
    }

    @Override
    public List<PerformanceGoal> goals() {
        return List.of();
    }

    @Override
    public void close() {}
}
