// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.HeldGrant;
import io.mortise.lock.benchmark.backend.PerformanceGoal;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.backend.WriteRoundTripProbe;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * A test bed without a server, whose competitors are supplied by the test.
 *
 * @param competitors the competitors, see {@link #competitor}
 * @param endpoint address for the competitors
 */
record FakeTestBed(List<Competitor> competitors, String endpoint) implements TestBed {
    FakeTestBed(List<Competitor> competitors) {
        this(competitors, "");
    }

    static TestBeds.Startable startable(Supplier<TestBed> start) {
        return new TestBeds.Startable("fake", () -> start.get().competitors(), start);
    }

    /**
     * Returns a competitor that may violate mutual exclusion.
     *
     * @param permits number of clients that can hold a lock at the same time
     * @param step increment between fencing tokens
     */
    static Competitor competitor(String name, int permits, int step) {
        Map<String, Semaphore> locks = new ConcurrentHashMap<>();
        AtomicLong tokens = new AtomicLong();
        return new Competitor() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public String description() {
                return permits + " holders per lock";
            }

            @Override
            public CompetitorSession open(String endpoint) {
                return new CompetitorSession() {
                    @Override
                    public HeldGrant acquire(String lock) throws InterruptedException {
                        Semaphore semaphore = locks.computeIfAbsent(lock, any -> new Semaphore(permits, true));
                        semaphore.acquire();
                        return held(semaphore, tokens.addAndGet(step));
                    }

                    @Override
                    public void close() {}
                };
            }
        };
    }

    private static HeldGrant held(Semaphore semaphore, long token) {
        return new HeldGrant() {
            @Override
            public OptionalLong token() {
                return OptionalLong.of(token);
            }

            @Override
            public void release() {
                semaphore.release();
            }

            @Override
            public void releaseAsync() {
                semaphore.release();
            }
        };
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public String description() {
        return "for tests";
    }

    @Override
    public boolean isRemote() {
        return false;
    }

    @Override
    public WriteRoundTripProbe roundTrip(String endpoint) {
        throw new UnsupportedOperationException();
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
        return Duration.ofMillis(1);
    }

    @Override
    public List<PerformanceGoal> goals() {
        return List.of();
    }

    @Override
    public void close() {}
}
