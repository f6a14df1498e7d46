// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.mortise.lock.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Locks inside this JVM: what the core costs by itself. */
final class MemoryTestBed implements TestBed {
    static final String NAME = "memory";

    private static final String STORE = "benchmark";

    // Named stores live as long as somebody refers to them.
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
        return List.of(new MortiseCompetitor("memory:", ""), new RawMemory());
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
        throw new UnsupportedOperationException("there is no connection to " + store);
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
        return Duration.ofMillis(100); // nothing is counted: any time does
    }

    @Override
    public List<PerformanceTarget> goals() {
        return List.of();
    }

    @Override
    public void close() {}
}
