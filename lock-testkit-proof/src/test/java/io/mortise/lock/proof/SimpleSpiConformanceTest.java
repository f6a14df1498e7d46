// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;

/**
 * The contract for a backend that came through the simple SPI and claims little: what a third party begins with. It has no
 * operator's view, so rules that need one are reported as not verified here.
 */
@Tag("once") // the core below it is the one that the kit tests on memory, on each JDK
class SimpleSpiConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new OneTable();
    }

    private static final class OneTable extends LinkedBackendUnderTest<LockTableClient> {
        private final LockTable table = new LockTable();
        private volatile boolean stopped;

        @Override
        protected LockTableClient newLink() {
            return new LockTableClient(table, () -> stopped);
        }

        @Override
        protected LockClient connect(LockTableClient link, ClientOptions options) {
            if (stopped) {
                throw new BackendUnavailableException("a table in memory: stopped");
            }
            return BackendClients.over(context -> new LeaseStoreBackend(link, context), options);
        }

        @Override
        public OptionalLong requests() {
            return OptionalLong.of(table.requests());
        }

        @Override
        public void expireSession(LockClient client) {
            link(client).expire();
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
