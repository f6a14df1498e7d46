// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.proof.MemoryLink;
import io.mortise.lock.proof.OneMemoryStore;
import io.mortise.lock.spi.ContenderListener;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A store in memory behind one mutant, for one test. */
final class MutantStore extends OneMemoryStore {
    private final Mutant mutant;
    private final Map<String, Long> shared = new ConcurrentHashMap<>();
    private final Set<ContenderListener> waiters = ConcurrentHashMap.newKeySet();
    private final List<LockClient> honest = new CopyOnWriteArrayList<>();

    /** Other mutants run beside this one, each in a thread group of its own. */
    private final @Nullable ThreadGroup threads = Thread.currentThread().getThreadGroup();

    MutantStore(Mutant mutant) {
        this.mutant = mutant;
    }

    @Override
    protected LockClient connect(MemoryLink link, ClientOptions options) {
        LockClient inner = BackendClients.over(
                context -> mutant.backend()
                        .over(
                                MemoryLocks.backend(store, link.faults(), context),
                                new MutantConnection(store, link.faults(), context, shared, waiters)),
                options);
        honest.add(inner);
        return mutant.client().over(inner);
    }

    @Override
    public boolean isServerThread(Thread thread) {
        return thread.getThreadGroup() != threads;
    }

    /** A wrong store then forgets what it keeps in memory. */
    @Override
    public void stopServer() {
        super.stopServer();
        shared.clear();
    }

    /** Also where the mutant does not close its delegate. */
    @Override
    public void close() {
        honest.forEach(LockClient::close);
        super.close();
    }
}
