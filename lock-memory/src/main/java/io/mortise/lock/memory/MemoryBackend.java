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
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The backend of one client: its connection to a {@link MemoryStore}. It applies the injected faults to each message, and keeps
 * the order of messages.
 */
final class MemoryBackend implements LockBackend {
    /** The lease duration if the application does not set one. */
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    private static final Set<Capability> CAPABILITIES = Set.copyOf(EnumSet.of(
            Capability.FENCING,
            Capability.FAIR,
            Capability.PUSH,
            Capability.CRASH_RELEASE,
            Capability.PER_LOCK_LEASE,
            Capability.HOLDER_INFO,
            Capability.LIST,
            Capability.DELAYED_RELEASE));

    private final MemoryStore store;
    private final MemoryFaults faults;
    private final BackendContext context;
    private volatile boolean closed;

    /** Whether the store has been notified that this connection ended. Guarded by the store's monitor. */
    boolean disconnected;

    MemoryBackend(MemoryStore store, MemoryFaults faults, BackendContext context) {
        if (faults.silent() || store.faults().silent()) {
            throw new BackendUnavailableException(store.endpoint() + " does not respond: an injected fault");
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
    public String kind() {
        return "memory";
    }

    @Override
    public Set<Capability> capabilities() {
        return CAPABILITIES;
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return requested.orElse(DEFAULT_LEASE);
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        return new MemoryContender(this, store, new MemoryStoredContender(request, this, listener, store.now()));
    }

    @Override
    public void renew(List<GrantValidity> due) {
        List<MemoryStoredContender.Grant> grants = GrantValidity.cast(due, MemoryStoredContender.Grant.class);
        List<MemoryStoredContender> entries =
                grants.stream().map(grant -> grant.entry).toList();
        MonotonicInstant sent = clock().now();
        send("renewal of " + due.size() + " leases", () -> store.renew(entries)).whenComplete((removed, failure) -> {
            for (MemoryStoredContender.Grant grant : grants) {
                if (failure != null) {
                    grant.renewalUnknown(failure);
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

    /** Returns whether the given faults are those of this connection. */
    boolean hasFaults(MemoryFaults candidate) {
        return faults == candidate;
    }

    /** Returns whether any fault of this connection or of the store is active. */
    boolean faulty() {
        return faults.active() || store.faults().active();
    }

    LockClock clock() {
        return context.clock();
    }

    /** Sends a request to the store and returns its reply, both subject to the injected faults. */
    <T> CompletionStage<T> send(String what, Supplier<T> execute) {
        String description = what + " at " + store.endpoint();
        MemoryFaults.Fate fate = faults.next().worse(store.faults().next());
        if (fate == MemoryFaults.Fate.REFUSED || closed) {
            return CompletableFuture.failedFuture(new BackendUnavailableException(
                    description + ": " + (closed ? "closed" : "refused by an injected fault")));
        }
        CompletableFuture<T> reply = new CompletableFuture<>();
        if (fate != MemoryFaults.Fate.REQUEST_LOST) {
            pass(() -> {
                if (closed) {
                    return; // the connection ended while the request was on its way
                }
                T result = execute.get();
                if (fate != MemoryFaults.Fate.REPLY_LOST) {
                    later(faults.delay().plus(store.faults().delay()), () -> pass(() -> reply.complete(result)));
                }
            });
        }
        return reply.isDone() ? reply : context.withRequestTimeout(description, reply);
    }

    /** Sends a message from the store to a contender, subject to the injected faults. */
    void push(boolean hint, Runnable message) {
        if (!faults.loses(hint) && !store.faults().loses(hint)) {
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
            pass(() -> store.disconnect(this));
        }
    }
}
