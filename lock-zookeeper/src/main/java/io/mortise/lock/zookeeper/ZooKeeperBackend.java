// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.zookeeper.admin.ConnectFailureDiagnosis;
import io.mortise.lock.zookeeper.admin.ServerStatusProbe;
import io.mortise.lock.zookeeper.admin.ZooKeeperLockAdmin;
import io.mortise.lock.zookeeper.queue.LockContainerNodeLifecycle;
import io.mortise.lock.zookeeper.queue.ZooKeeperContender;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionManager;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionValidity;
import io.mortise.lock.zookeeper.session.ZooKeeperSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.KeeperException.Code;

/** A lock backend on ZooKeeper that uses one session per client and a queue of ephemeral sequential nodes per lock. */
final class ZooKeeperBackend implements LockBackend {
    private final ZooKeeperSettings settings;
    private final BackendContext context;
    private final ZooKeeperSessionManager sessions;
    private final LockContainerNodeLifecycle lockNodes;
    private final LongHoldWatchScheduler deferredWatches;

    private ZooKeeperBackend(ZooKeeperSettings settings, BackendContext context) {
        this.settings = settings;
        this.context = context;
        this.sessions = new ZooKeeperSessionManager(settings, context);
        this.lockNodes = new LockContainerNodeLifecycle(settings.basePath(), settings.acl(), context.clock());
        this.deferredWatches = new LongHoldWatchScheduler(context.clock(), ZooKeeperContender.WATCH_OWN_NODE_AFTER);
    }

    /** Opens the backend of one client, and waits until the client has a session. */
    static ZooKeeperBackend open(ZooKeeperOptions options, BackendContext context) {
        ZooKeeperSettings settings = options.settings();
        ZooKeeperBackend backend = new ZooKeeperBackend(settings, context);
        try {
            backend.connect();
        } catch (RuntimeException | Error e) {
            backend.sessions.abort();
            throw e;
        }
        settings.exposureCheck().log();
        return backend;
    }

    private void connect() {
        ZooKeeperSession session = sessions.current();
        CompletableFuture<?> connected =
                session.ready().thenCompose(validity -> checkPaths(session)).toCompletableFuture();
        ConnectFailureDiagnosis diagnosis = ConnectFailureDiagnosis.start(
                endpoints(), ServerStatusProbe.of(settings, context.requestTimeout()), context, connected);
        ConnectRetrier.of(endpoints(), context.connectTimeout())
                .withTimeoutMessage(diagnosis::timeoutMessage)
                .await(connected, failure -> ZooKeeperErrors.toLockException(failure, "connect", endpoints()));
    }

    /** Checks, before the first lock is acquired, that the chroot exists and that the client may read the base path. */
    private CompletionStage<Boolean> checkPaths(ZooKeeperSession session) {
        CompletableFuture<Boolean> root = session.zooKeeper().data("/").handle((content, failure) -> {
            if (failure != null && ZooKeeperErrors.hasCode(failure, Code.NONODE)) {
                throw new BackendRefusedException(
                        "the chroot " + settings.chroot().orElse("/") + " of " + endpoints()
                                + " does not exist: create it first, or leave it out");
            }
            return true;
        });
        CompletableFuture<Boolean> base = session.zooKeeper()
                .data(settings.basePath())
                .handle((content, failure) -> {
                    if (failure != null && ZooKeeperErrors.hasCode(failure, Code.NOAUTH)) {
                        throw ZooKeeperErrors.toLockException(failure, "reading the base path", endpoints());
                    }
                    return true;
                });
        return root.thenCombine(base, (rootExists, baseReadable) -> true);
    }

    /** Returns the session for new contenders, without waiting until it is connected. */
    ZooKeeperSession session() {
        return sessions.current();
    }

    @Override
    public String endpoints() {
        return sessions.endpoints();
    }

    @Override
    public String kind() {
        return "zookeeper";
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
    public Duration leaseDuration(Optional<Duration> requested) {
        return sessions.sessionTimeout();
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        return new ZooKeeperContender(
                sessions, lockNodes, deferredWatches, GrantNodeCondition::unwrap, request, listener);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        GrantValidity.cast(due, ZooKeeperSessionValidity.class).forEach(ZooKeeperSessionValidity::renew);
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new ZooKeeperLockAdmin(settings, sessions, lockNodes.paths(), context));
    }

    @Override
    public void close() {
        lockNodes.deleteUnused();
        sessions.close();
    }
}
