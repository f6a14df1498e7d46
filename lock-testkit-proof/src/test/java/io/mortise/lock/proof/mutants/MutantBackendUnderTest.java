// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.proof.MemoryBackendUnderTest;
import io.mortise.lock.proof.MemoryLink;
import io.mortise.lock.spi.ContenderListener;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Provides an in-memory store to one conformance test, and inserts a mutant between the store and its clients. */
final class MutantBackendUnderTest extends MemoryBackendUnderTest {
    private final WrapperMutant mutant;
    private final Map<String, Long> shared = new ConcurrentHashMap<>();
    private final Set<ContenderListener> waiters = ConcurrentHashMap.newKeySet();
    private final List<LockClient> clients = new CopyOnWriteArrayList<>();

    /** The thread group of this mutant; other mutants run in parallel in other groups. */
    private final @Nullable ThreadGroup threads = Thread.currentThread().getThreadGroup();

    MutantBackendUnderTest(WrapperMutant mutant) {
        this.mutant = mutant;
    }

    @Override
    protected LockClient connect(MemoryLink link, ClientOptions options) {
        LockClient inner = BackendClients.open(
                context -> mutant.backend()
                        .over(
                                MemoryLocks.backend(store, link.faults(), context),
                                new MutantConnection(store, link.faults(), context, shared, waiters)),
                options);
        clients.add(inner);
        return mutant.client().over(inner);
    }

    @Override
    public boolean isServerThread(Thread thread) {
        return thread.getThreadGroup() != threads;
    }

    /** Clears the shared state, as a wrong store that keeps it in memory would. */
    @Override
    public void stopServer() {
        super.stopServer();
        shared.clear();
    }

    /** Closes the clients even if the mutant does not close its delegate. */
    @Override
    public void close() {
        clients.forEach(LockClient::close);
        super.close();
    }
}
