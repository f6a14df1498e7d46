// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.etcd.admin.EtcdLockAdmin;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdFailoverConnection;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.EtcdSettings;
import io.mortise.lock.etcd.connection.TlsMismatchProbe;
import io.mortise.lock.etcd.contender.EtcdContender;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.session.EtcdSessionManager;
import io.mortise.lock.etcd.session.EtcdSessionValidity;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Implements the backend for etcd, with one session for each client and one queue of keys for each lock. */
final class EtcdBackend implements LockBackend {
    private final EtcdSettings settings;
    private final BackendContext context;
    private final EtcdKeyLayout keys;
    private final EtcdFailoverConnection connection;
    private final EtcdRequestSender requests;
    private final EtcdSessionManager sessions;
    private final LongHoldWatchScheduler deferredWatches;

    private EtcdBackend(EtcdSettings settings, BackendContext context) {
        this.settings = settings;
        this.context = context;
        this.keys = new EtcdKeyLayout(settings.namespace());
        this.connection = new EtcdFailoverConnection(settings, context);
        this.requests = new EtcdRequestSender(connection, context);
        this.sessions = new EtcdSessionManager(requests, keys, context, settings.leaseDuration());
        this.deferredWatches = new LongHoldWatchScheduler(context.clock(), EtcdContender.WATCH_OWN_KEY_AFTER);
    }

    /** Opens the backend of a client, and waits until its first session is open. */
    static EtcdBackend open(EtcdOptions options, BackendContext context) {
        EtcdBackend backend = new EtcdBackend(options.settings(), context);
        try {
            backend.connection.open();
            backend.connect();
        } catch (RuntimeException | Error e) {
            backend.sessions.abort();
            backend.connection.close();
            throw e;
        }
        backend.settings.exposureCheck().ifPresent(StoreExposureCheck::log);
        return backend;
    }

    private void connect() {
        ConnectRetrier deadline = ConnectRetrier.of(endpoints(), context.connectTimeout());
        TlsMismatchProbe mismatch =
                new TlsMismatchProbe(settings.endpointList(), settings.tls().isPresent());
        EtcdSessionValidity first = deadline.retry(() -> {
            try {
                return deadline.await(
                        sessions.current().ready().toCompletableFuture(),
                        failure -> EtcdErrors.of(failure, "connect", endpoints()));
            } catch (BackendUnavailableException e) {
                throw mismatch.explain(e, endpoints());
            }
        });
        sessions.opened(first);
    }

    @Override
    public String endpoints() {
        return settings.endpoints();
    }

    @Override
    public String kind() {
        return "etcd";
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(
                Capability.FENCING,
                Capability.FAIR,
                Capability.PUSH,
                Capability.CRASH_RELEASE,
                Capability.HOLDER_INFO,
                Capability.LIST,
                Capability.DELAYED_RELEASE);
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return sessions.leaseDuration();
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        return new EtcdContender(
                sessions, context.clock(), deferredWatches, GrantKeyCondition::unwrap, request, listener);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        GrantValidity.cast(due, EtcdSessionValidity.class).forEach(EtcdSessionValidity::renew);
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new EtcdLockAdmin(requests, keys, settings));
    }

    @Override
    public void close() {
        try {
            sessions.close();
        } finally {
            connection.close();
        }
    }
}
