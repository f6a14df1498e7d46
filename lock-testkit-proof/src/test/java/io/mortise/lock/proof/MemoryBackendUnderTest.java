// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import java.time.Duration;
import java.util.OptionalLong;

/** Provides a new in-memory store to one conformance test. It has no {@code url()}, since other processes cannot access it. */
public class MemoryBackendUnderTest extends LinkedBackendUnderTest<MemoryLink> {
    protected final MemoryStore store = MemoryStore.create();

    @Override
    public String description() {
        return "lock-memory";
    }

    @Override
    protected MemoryLink newLink() {
        return new MemoryLink(store.newClientFaults());
    }

    @Override
    protected LockClient connect(MemoryLink link, ClientOptions options) {
        // A store in this JVM is never about to start, so MemoryLocks itself does not wait for it.
        return ConnectRetrier.of("lock-memory", options.connectTimeout())
                .retry(() -> MemoryLocks.connect(store, options, link.faults()));
    }

    @Override
    public Duration removalNotifiedWithin() {
        return Duration.ZERO;
    }

    @Override
    public OptionalLong requests() {
        return OptionalLong.of(store.requestCount());
    }

    @Override
    public void expireSession(LockClient client) {
        link(client).faults().expireAll();
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
}
