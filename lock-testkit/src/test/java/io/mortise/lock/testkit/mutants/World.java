// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.mutants;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spi.LockClients;
import io.mortise.lock.spi.Waiter;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.Faults;
import io.mortise.lock.testkit.MemoryLine;
import io.mortise.lock.testkit.servers.Line;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A store in memory behind one mutant, for one test. */
final class World implements BackendUnderTest, Faults {
    private final Mutant mutant;
    private final MemoryStore store = MemoryStore.create();
    private final Map<String, Long> shared = new ConcurrentHashMap<>();
    private final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();
    private final Map<LockClient, MemoryFaults> lines = new ConcurrentHashMap<>();
    private final List<LockClient> honest = new CopyOnWriteArrayList<>();

    /** Other mutants run beside this one, each in a thread group of its own. */
    private final @Nullable ThreadGroup threads = Thread.currentThread().getThreadGroup();

    World(Mutant mutant) {
        this.mutant = mutant;
    }

    @Override
    public LockClient open(ClientOptions options) {
        MemoryFaults line = store.faultsOfOne();
        LockClient inner = LockClients.over(
                context -> mutant.backend()
                        .over(
                                MemoryLocks.backend(store, line, context),
                                new Connection(store, line, context, shared, waiters)),
                options);
        honest.add(inner);
        LockClient client = mutant.client().over(inner);
        lines.put(client, line);
        return client;
    }

    @Override
    public Duration removalToldWithin() {
        return Duration.ZERO;
    }

    @Override
    public boolean isServerThread(Thread thread) {
        return thread.getThreadGroup() != threads;
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

    @Override
    public void expireSession(LockClient client) {
        Objects.requireNonNull(lines.get(client)).expireAll();
    }

    @Override
    public OptionalLong requests() {
        return OptionalLong.of(store.requests());
    }

    /** What a wrong store keeps in memory is gone then. */
    @Override
    public void stopServer() {
        store.faults().refuse();
        shared.clear();
    }

    @Override
    public void startServer() {
        store.faults().heal();
    }

    /** Also where the mutant does not close what it stands before. */
    @Override
    public void close() {
        honest.forEach(LockClient::close);
    }
}
