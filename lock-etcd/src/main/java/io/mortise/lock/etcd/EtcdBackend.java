// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.spi.AccessCheck;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.CloseDeadline;
import io.mortise.lock.spi.ConnectDeadline;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.CurrentSession;
import io.mortise.lock.spi.DeferredWatches;
import io.mortise.lock.spi.KeepAlive;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** One session at a time, made anew for the next acquire when the last one is over. */
final class EtcdBackend implements LockBackend {

    /** Twice this, and two round trips, are well below the 200 ms within which a deletion is told (S7). */
    static final Duration ARM_AFTER = Duration.ofMillis(50);

    private final EtcdOptions options;
    private final BackendContext context;
    private final EtcdKeyLayout keys;
    private final EtcdConnection connection;
    private final EtcdRequests calls;
    private final DeferredWatches late;

    private final CurrentSession<EtcdSession> sessions;

    /** As granted to the last session: what is known while the next one is opened. */
    private volatile Duration leaseDuration;

    private EtcdBackend(EtcdOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.keys = new EtcdKeyLayout(options.namespace());
        this.connection = new EtcdConnection(options, context);
        this.calls = new EtcdRequests(connection, context);
        this.late = new DeferredWatches(context.clock(), ARM_AFTER);
        this.sessions = new CurrentSession<>(() -> new EtcdSession(calls, keys, context, options.leaseDuration()));
        this.leaseDuration = options.leaseDuration();
    }

    static EtcdBackend open(EtcdOptions options, BackendContext context) {
        EtcdBackend backend = new EtcdBackend(options, context);
        try {
            backend.connection.open();
            backend.firstContact();
        } catch (RuntimeException | Error e) {
            backend.sessions.end();
            backend.connection.close();
            throw e;
        }
        options.access().ifPresent(AccessCheck::log);
        return backend;
    }

    private void firstContact() {
        ConnectDeadline beginning = ConnectDeadline.of(endpoints(), context.connectTimeout());
        TlsMismatchProbe mismatch =
                new TlsMismatchProbe(options.endpointList(), options.tls().isPresent());
        EtcdKeepAlive first = beginning.tryFor(() -> {
            try {
                return beginning.await(
                        session().ready().toCompletableFuture(),
                        failure -> EtcdErrors.of(failure, "connect", endpoints()));
            } catch (BackendUnavailableException e) {
                throw mismatch.explained(e, endpoints());
            }
        });
        leaseDuration = first.lease();
    }

    /** The session for new contenders; does not wait until it is open. */
    EtcdSession session() {
        return sessions.get();
    }

    EtcdRequests calls() {
        return calls;
    }

    EtcdKeyLayout keys() {
        return keys;
    }

    DeferredWatches late() {
        return late;
    }

    BackendContext context() {
        return context;
    }

    LockClock clock() {
        return context.clock();
    }

    void settle(String what, Supplier<? extends CompletionStage<?>> cleanup) {
        context.cleanUp(what, cleanup, clock().nanoTime() + leaseDuration.toNanos());
    }

    @Override
    public String endpoints() {
        return options.endpoints();
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(
                Capability.FENCING,
                Capability.FAIR,
                Capability.PUSH,
                Capability.CRASH_RELEASE,
                Capability.HOLDER_INFO,
                Capability.LIST);
    }

    @Override
    public Duration leaseDuration(Optional<Duration> asked) {
        sessions.last().flatMap(EtcdSession::keepAlive).ifPresent(keepAlive -> leaseDuration = keepAlive.lease());
        return leaseDuration;
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener waiter) {
        return new EtcdContender(this, request, waiter);
    }

    @Override
    public void renew(List<KeepAlive> due) {
        for (KeepAlive keepAlive : due) {
            EtcdKeepAlive mine = (EtcdKeepAlive) keepAlive;
            mine.session().renew(mine);
        }
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new EtcdLockAdmin(calls, keys, options));
    }

    @Override
    public void close() {
        try {
            sessions.end()
                    .ifPresent(last -> CloseDeadline.await(
                            last.closed(),
                            context.requestTimeout(),
                            "endpoints=" + endpoints() + " bound=" + leaseDuration));
        } finally {
            connection.close();
        }
    }
}
