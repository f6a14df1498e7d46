// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.testkit.servers.Line;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** The reference backend keeps the contract. It has no {@code url()}: no other process reaches its stores. */
class MemoryConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new Memory();
    }

    private static final class Memory implements BackendUnderTest, Faults {
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
        public OptionalLong requests() {
            return OptionalLong.of(store.requests());
        }

        @Override
        public Faults faults() {
            return this;
        }

        @Override
        public Line line(LockClient client) {
            return new MemoryLine(faultsOf(client));
        }

        @Override
        public void expireSession(LockClient client) {
            faultsOf(client).expireAll();
        }

        @Override
        public void deleteGrant(String lockName) {
            store.faults().remove(lockName);
        }

        @Override
        public void stopServer() {
            store.faults().refuse();
        }

        @Override
        public void startServer() {
            store.faults().heal();
        }

        private MemoryFaults faultsOf(LockClient client) {
            return Objects.requireNonNull(lines.get(client));
        }
    }
}
