// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import java.time.Duration;
import java.util.OptionalLong;

/** Provides a new in-memory table, connected through the simple SPI, to one conformance test. It has no {@code LockAdmin}. */
public class TableBackendUnderTest extends LinkedBackendUnderTest<FaultyLeaseStore> {
    final InMemoryLockTable table = new InMemoryLockTable();
    volatile boolean stopped;

    @Override
    public String description() {
        return "a table in memory, on LeaseStore";
    }

    @Override
    protected FaultyLeaseStore newLink() {
        return new FaultyLeaseStore(this);
    }

    @Override
    protected LockClient connect(FaultyLeaseStore link, ClientOptions options) {
        return BackendClients.open(
                context -> {
                    reach(link.endpoints(), options.connectTimeout());
                    return backend(link, context);
                },
                options);
    }

    /** Waits until the table accepts requests. */
    protected void reach(String endpoints, Duration connectTimeout) {
        ConnectRetrier.of(endpoints, connectTimeout).retry(() -> {
            if (stopped) {
                throw new BackendUnavailableException(endpoints + ": stopped");
            }
            return true;
        });
    }

    /** Returns the backend of a new client, on its link. */
    protected LockBackend backend(FaultyLeaseStore link, BackendContext context) {
        return new LeaseStoreBackend(link, context);
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
