// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** One fair semaphore per lock, as fair as Mortise's queue: the least that can be done inside one JVM. */
final class RawMemory implements Competitor {
    private final Map<String, Semaphore> locks = new ConcurrentHashMap<>();

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public String description() {
        return "java.util.concurrent.Semaphore, one fair permit per lock";
    }

    @Override
    public Session open(String endpoint) {
        return new Session() {
            @Override
            public Held acquire(String lock) throws InterruptedException {
                Semaphore permit = locks.computeIfAbsent(lock, name -> new Semaphore(1, true));
                permit.acquire();
                return new Permit(permit);
            }

            @Override
            public void close() {}
        };
    }

    private record Permit(Semaphore permit) implements Held {
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
