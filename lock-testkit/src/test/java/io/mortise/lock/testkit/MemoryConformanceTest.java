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
import java.util.concurrent.ConcurrentHashMap;

/** The reference backend keeps the contract. */
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
        public Faults faults() {
            return this;
        }

        @Override
        public Line line(LockClient client) {
            return new MemoryLine(Objects.requireNonNull(lines.get(client)));
        }

        @Override
        public void deleteGrant(String lockName) {
            store.faults().remove(lockName);
        }
    }

    private record MemoryLine(MemoryFaults faults) implements Line {
        @Override
        public void blackHole() {
            faults.freeze();
        }

        @Override
        public void cut() {
            faults.refuse();
        }

        @Override
        public void dropNextReply() {
            faults.dropNextReply();
        }

        @Override
        public void delay(Duration oneWay) {
            faults.delayReplies(oneWay.multipliedBy(2));
        }

        @Override
        public void heal() {
            faults.heal();
        }
    }
}
