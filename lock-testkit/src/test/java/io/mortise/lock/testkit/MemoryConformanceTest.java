// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The reference backend keeps the contract. */
class MemoryConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new Memory();
    }

    private static final class Memory implements BackendUnderTest, BackendUnderTest.Faults {
        private final MemoryStore store = MemoryStore.create();
        private final Map<LockClient, MemoryFaults> lines = new ConcurrentHashMap<>();

        @Override
        public LockClient open(ClientOptions options) {
            MemoryFaults line = store.faultsOfOne();
            LockClient client = MemoryLocks.connect(store, options, line);
            lines.put(client, line);
            return client;
        }

        @Override
        public Duration removalToldWithin() {
            return Duration.ZERO;
        }

        @Override
        public Optional<Faults> faults() {
            return Optional.of(this);
        }

        @Override
        public void cut(LockClient client) {
            Objects.requireNonNull(lines.get(client)).freeze();
        }

        @Override
        public void heal(LockClient client) {
            Objects.requireNonNull(lines.get(client)).heal();
        }
    }
}
