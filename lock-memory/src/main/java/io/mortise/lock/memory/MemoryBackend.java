// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** One client's connection to a {@link MemoryStore}: every message passes the faults, in order. */
final class MemoryBackend implements LockBackend {
    /** How long a grant lasts unless the application says otherwise. */
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    private static final Set<Capability> CAPABILITIES = Set.copyOf(EnumSet.of(
            Capability.FENCING,
            Capability.FAIR,
            Capability.PUSH,
            Capability.CRASH_RELEASE,
            Capability.PER_LOCK_LEASE,
            Capability.HOLDER_INFO,
            Capability.LIST));

    private final MemoryStore store;
    private final MemoryFaults faults;
    private final BackendContext context;
    private volatile boolean closed;

    /** The store knows that this connection ended. Guarded by the store's monitor. */
    boolean left;

    MemoryBackend(MemoryStore store, MemoryFaults faults, BackendContext context) {
        if (faults.silent() || store.faults().silent()) {
            throw new BackendUnavailableException(store.endpoint() + " does not answer: a scripted fault");
        }
        this.store = store;
        this.faults = faults;
        this.context = context;
    }

    @Override
    public String endpoints() {
        return store.endpoint();
    }

    @Override
    public Set<Capability> capabilities() {
        return CAPABILITIES;
    }

    @Override
    public Duration leaseDuration(Optional<Duration> asked) {
        return asked.orElse(DEFAULT_LEASE);
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener waiter) {
        return new MemoryContender(this, store, new MemoryQueueEntry(request, this, waiter, store.now()));
    }

    @Override
    public void renew(List<GrantValidity> due) {
        List<MemoryQueueEntry.Grant> grants = GrantValidity.cast(due, MemoryQueueEntry.Grant.class);
        List<MemoryQueueEntry> entries =
                grants.stream().map(grant -> grant.entry).toList();
        MonotonicTime sent = clock().now();
        send("renewal of " + due.size() + " leases", () -> store.renew(entries)).whenComplete((removed, failure) -> {
            for (MemoryQueueEntry.Grant grant : grants) {
                if (failure != null) {
                    grant.unknown(failure);
                } else if (removed.contains(grant.entry)) {
                    grant.removed("the store no longer has the grant");
                } else {
                    grant.extend(LockClock.deadline(sent, grant.entry.lease));
                }
            }
        });
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new MemoryAdmin(this, store));
    }

    /** Whether those are the faults of this connection. */
    boolean meets(MemoryFaults of) {
        return faults == of;
    }

    boolean faulty() {
        return faults.active() || store.faults().active();
    }

    LockClock clock() {
        return context.clock();
    }

    /** A request to the store and its answer, as far as the faults let them through. */
    <T> CompletionStage<T> send(String what, Supplier<T> execute) {
        String asked = what + " at " + store.endpoint();
        MemoryFaults.Fate fate = faults.next().worse(store.faults().next());
        if (fate == MemoryFaults.Fate.REFUSED || closed) {
            return CompletableFuture.failedFuture(new BackendUnavailableException(
                    asked + ": " + (closed ? "closed" : "refused by a scripted fault")));
        }
        CompletableFuture<T> reply = new CompletableFuture<>();
        if (fate != MemoryFaults.Fate.REQUEST_LOST) {
            pass(() -> {
                if (closed) {
                    return; // what was under way when the connection ended
                }
                T answer = execute.get();
                if (fate != MemoryFaults.Fate.REPLY_LOST) {
                    later(faults.delay().plus(store.faults().delay()), () -> pass(() -> reply.complete(answer)));
                }
            });
        }
        return reply.isDone() ? reply : context.timed(asked, reply);
    }

    /** From the store to a waiter. */
    void push(boolean hint, Runnable message) {
        if (!hint || !(faults.losesHints() || store.faults().losesHints())) {
            pass(message);
        }
    }

    private void pass(Runnable message) {
        faults.pass(() -> store.faults().pass(message));
    }

    private void later(Duration delay, Runnable task) {
        if (delay.isZero()) {
            task.run();
        } else {
            clock().schedule(delay, task);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            pass(() -> store.leave(this));
        }
    }
}
