// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockClients;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.servers.Line;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The contract for a backend that came through the small door and claims little: what a third party begins with. It has no
 * operator's view, so rules that need one are reported as not verified here.
 */
class SmallDoorConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new OneTable();
    }

    private static final class OneTable implements BackendUnderTest, Faults {
        private final Table table = new Table();
        private final Map<LockClient, TableClient> lines = new ConcurrentHashMap<>();
        private volatile boolean stopped;

        @Override
        public LockClient open(ClientOptions options) {
            if (stopped) {
                throw new BackendUnavailableException("a table in memory: stopped");
            }
            TableClient line = new TableClient(table, () -> stopped);
            LockClient client = LockClients.over(context -> new LeaseStoreBackend(line, context), options);
            lines.put(client, line);
            return client;
        }

        @Override
        public OptionalLong requests() {
            return OptionalLong.of(table.requests());
        }

        @Override
        public Faults faults() {
            return this;
        }

        @Override
        public Line line(LockClient client) {
            return Objects.requireNonNull(lines.get(client));
        }

        @Override
        public void expireSession(LockClient client) {
            Objects.requireNonNull(lines.get(client)).expire();
        }

        @Override
        public void deleteGrant(String lockName) {
            table.delete(new LockName(lockName));
        }

        @Override
        public void stopServer() {
            stopped = true;
        }

        @Override
        public void startServer() {
            stopped = false;
        }
    }
}
