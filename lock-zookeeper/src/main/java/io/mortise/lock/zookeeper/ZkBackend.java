// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Beginning;
import io.mortise.lock.spi.CurrentSession;
import io.mortise.lock.spi.Ending;
import io.mortise.lock.spi.LateArming;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;

/** One session at a time, made anew for the next acquire when the last one is over. */
final class ZkBackend implements LockBackend {
    private static final Duration MOST_FOR_A_WORD = Duration.ofSeconds(3);

    /** Well below the second within which a deletion is told (S7). */
    static final Duration ARM_AFTER = Duration.ofMillis(100);

    private final ZooKeeperOptions options;
    private final BackendContext context;
    private final LockPaths paths;
    private final LateArming late;
    private final EmptyLockNodes empty;

    private final CurrentSession<ZkSession> sessions;

    /** As negotiated for the last session: what is known while the next one connects. */
    private volatile Duration sessionTimeout;

    private ZkBackend(ZooKeeperOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.paths = new LockPaths(options.basePath());
        this.late = new LateArming(context.clock(), ARM_AFTER);
        this.empty = new EmptyLockNodes(context.clock());
        this.sessions = new CurrentSession<>(() -> ZkSession.start(options, options.toString(), context));
        this.sessionTimeout = options.sessionTimeout();
    }

    static ZkBackend open(ZooKeeperOptions options, BackendContext context) {
        ZkBackend backend = new ZkBackend(options, context);
        try {
            backend.firstContact();
        } catch (RuntimeException | Error e) {
            backend.sessions.end(); // not awaited: a server that does not answer would not answer this either
            throw e;
        }
        options.access().log();
        return backend;
    }

    private void firstContact() {
        ZkSession first = session();
        CompletableFuture<?> contact =
                first.ready().thenCompose(liveness -> check(first)).toCompletableFuture();
        NoSession asking = NoSession.ask(endpoints(), ServerWord.of(options, wordTimeoutMillis()), context, contact);
        Beginning.of(endpoints(), context.connectTimeout())
                .orSay(asking::inVain)
                .await(contact, failure -> ZkFailure.of(failure, "connect", endpoints()));
    }

    /** What can be known before the first lock: the chroot exists, and we may read under the base path. */
    private CompletionStage<Boolean> check(ZkSession first) {
        CompletableFuture<Boolean> root = first.calls().data("/").handle((content, failure) -> {
            if (failure != null && ZkFailure.is(failure, Code.NONODE)) {
                throw new BackendRefusedException(
                        "the chroot " + options.chroot().orElse("/") + " of " + endpoints()
                                + " does not exist: create it first, or leave it out");
            }
            return true;
        });
        CompletableFuture<Boolean> base = first.calls().data(paths.base()).handle((content, failure) -> {
            if (failure != null && ZkFailure.is(failure, Code.NOAUTH)) {
                throw ZkFailure.of(failure, "reading the base path", endpoints());
            }
            return true;
        });
        return root.thenCombine(base, (rootIs, baseIs) -> true);
    }

    /** The session for new tickets; does not wait for its connection. */
    ZkSession session() {
        return sessions.get();
    }

    LockPaths paths() {
        return paths;
    }

    LateArming late() {
        return late;
    }

    EmptyLockNodes empty() {
        return empty;
    }

    List<ACL> acl() {
        return options.acl();
    }

    <T> CompletionStage<T> timed(String what, CompletionStage<T> request) {
        return context.timed(what + " at " + endpoints(), request);
    }

    /** For what blocks for a while. */
    <T> CompletionStage<T> blocking(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, context.blocking());
    }

    /** How long one server is waited for that may be down: the others are asked meanwhile. */
    int wordTimeoutMillis() {
        return (int) Math.min(context.requestTimeout().toMillis(), MOST_FOR_A_WORD.toMillis());
    }

    /**
     * Makes the contender's node together with the container that is its lock node, or neither: the server never removes a
     * container that has had no child. Fails with NODEEXISTS if the lock node is there by now.
     */
    CompletionStage<ZkCalls.Created> createWithLockNode(
            ZkSession on, String lockNode, String child, byte[] ownerRecord) {
        // The base first only if it is missing: who may make locks may not be allowed to make what is above them.
        return on.calls()
                .createInNewContainer(lockNode, child, ownerRecord, acl())
                .exceptionallyCompose(failure -> ZkFailure.is(failure, Code.NONODE)
                        ? makeBase(on)
                                .thenCompose(ok -> on.calls().createInNewContainer(lockNode, child, ownerRecord, acl()))
                                .toCompletableFuture()
                        : CompletableFuture.failedFuture(failure));
    }

    private CompletionStage<Boolean> makeBase(ZkSession on) {
        CompletionStage<Boolean> made = CompletableFuture.completedFuture(true);
        for (String node : paths.baseNodes()) {
            made = made.thenCompose(ok -> on.calls().ensure(node, acl(), CreateMode.PERSISTENT));
        }
        return made;
    }

    @Override
    public String endpoints() {
        return options.toString();
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
        sessions.last().flatMap(ZkSession::liveness).ifPresent(liveness -> sessionTimeout = liveness.timeout());
        return sessionTimeout;
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Ticket enqueue(LockRequest request, Waiter waiter) {
        return new ZkTicket(this, request, waiter);
    }

    @Override
    public void renew(List<Liveness> due) {
        for (Liveness liveness : due) {
            ZkLiveness mine = (ZkLiveness) liveness;
            mine.session().renew(mine);
        }
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new ZkAdmin(this, options));
    }

    @Override
    public void close() {
        empty.deleteAll();
        sessions.end()
                .ifPresent(last -> Ending.await(
                        last.closed(),
                        context.requestTimeout(),
                        "endpoints=" + endpoints() + " bound=" + leaseDuration(Optional.empty())));
    }
}
