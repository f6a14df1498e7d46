// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** Benchmark competitor that locks in memory with one fair {@code Semaphore} per lock. */
final class JdkSemaphoreCompetitor implements Competitor {
    private final Map<String, Semaphore> locks = new ConcurrentHashMap<>();

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public String description() {
        return "java.util.concurrent.Semaphore, fair, one per lock";
    }

    @Override
    public CompetitorSession open(String endpoint) {
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) throws InterruptedException {
                Semaphore permit = locks.computeIfAbsent(lock, name -> new Semaphore(1, true));
                permit.acquire();
                return new Permit(permit);
            }

            @Override
            public void close() {}
        };
    }

    private record Permit(Semaphore permit) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() {
            permit.release();
        }

        @Override
        public void releaseAsync() {
            permit.release();
        }
    }
}
