// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lock backend for Redis that creates contenders, dispatches the servers' messages to them, and renews their grants. */
final class RedisBackend implements LockBackend, RedisClusterConnectionRouter.Listener {
    private static final Logger log = LoggerFactory.getLogger(RedisBackend.class);

    private final RedisOptions options;
    private final BackendContext context;
    private final RedisKeyLayout keys;
    private final MessageAuthenticator signer = new MessageAuthenticator();
    private final ContenderRegistry<RedisContender> contenders;
    private final RedisConnectionRouter connections;
    private final RedisRenewals renewals;
    private final GrantConfirmation confirmation;
    private final RecentRemovals removals = new RecentRemovals();
    private final String mark;

    @SuppressWarnings("this-escape") // messages that arrive before the constructor ends find no contender
    private RedisBackend(RedisOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.mark = " client=" + context.clientId(); // the name of its connection in CLIENT LIST
        this.keys =
                options.isCluster() ? RedisKeyLayout.clustered(options.prefix()) : new RedisKeyLayout(options.prefix());
        this.contenders = new ContenderRegistry<>(context.clock());
        this.connections = options.isCluster()
                ? RedisClusterConnectionRouter.open(options, keys, context, this)
                : SingleMasterConnection.open(options, keys.channel(context.clientId()), context, this);
        this.confirmation = new GrantConfirmation(connections);
        this.renewals = new RedisRenewals(connections, confirmation, context.clock(), context.requestTimeout());
    }

    static RedisBackend open(RedisOptions options, BackendContext context) {
        RedisBackend backend = new RedisBackend(options, context);
        options.access().ifPresent(StoreExposureCheck::log);
        return backend;
    }

    BackendContext context() {
        return context;
    }

    RedisKeyLayout keys() {
        return keys;
    }

    ContenderRegistry<RedisContender> contenders() {
        return contenders;
    }

    MessageAuthenticator signer() {
        return signer;
    }

    RedisConnectionRouter connections() {
        return connections;
    }

    GrantConfirmation confirmation() {
        return confirmation;
    }

    Optional<StoreExposureCheck> access() {
        return options.access();
    }

    int waitReplicas() {
        return options.waitReplicas();
    }

    boolean isCluster() {
        return options.isCluster();
    }

    @Override
    public void onMessage(RedisNodeClient from, String text) {
        Optional<GrantMessage> message = GrantMessage.parse(text);
        if (message.isEmpty() || !signer.isGenuine(message.get())) {
            log.debug("event=message-ignored length={}", text.length()); // any client may publish any text (S19)
            return;
        }
        Optional<RedisContender> contender = contenders.find(message.get().attemptId());
        if (contender.isEmpty()) {
            releaseUnclaimed(message.get());
            return;
        }
        if (message.get() instanceof GrantMessage.Granted granted) {
            contender.get().onHandOff(granted, from.epoch());
        } else {
            contender.get().wake();
        }
    }

    /** Renews at once, since the server may be another one or have lost its data, so that holders learn of a loss soon (S7). */
    @Override
    public void onSubscribed(RedisNodeClient node) {
        contenders.wakeAll(contender -> contender.waitsAt(node));
        context.renewNow(RedisGrantValidity.class, grant -> connections.nodeOf(grant.keys()) == node);
        repeatRemovals();
    }

    /** Makes waiters and holders whose lock has moved send their next request to the server that has it now. */
    @Override
    public void rerouted() {
        contenders.wakeAll(RedisContender::isMisplaced);
        context.renewNow(RedisGrantValidity.class, grant -> grant.isMisplaced(connections));
        repeatRemovals();
    }

    /** Records that a server has removed the attempt's grant and queue entry, or had neither. */
    void onRemoved(RedisKeyLayout.OfLock lock, String attemptId, int epoch, Duration lease) {
        remember(new RecentRemovals.Removal(
                lock, attemptId, epoch, context.clock().now().plus(lease)));
    }

    /** Remembers a removal, and repeats it if its reply came from a server that has been replaced. */
    private void remember(RecentRemovals.Removal removal) {
        removals.add(removal);
        repeatIfMoved(removal);
    }

    /** Repeats the removals whose locks may be at another server now. */
    private void repeatRemovals() {
        removals.all(context.clock().now()).forEach(this::repeatIfMoved);
    }

    /**
     * Repeats a removal that was executed on another connection than that to the lock's server: after a failover this one may not
     * know of it, and the lock would stay taken until the lease ends. A server that is not connected yet is served when it is.
     */
    private void repeatIfMoved(RecentRemovals.Removal removal) {
        RedisNodeClient node = connections.nodeOf(removal.keys());
        if (removal.epoch() != node.epoch()
                && node.isConnected()
                && contenders.find(removal.attemptId()).isEmpty() // an attempt that goes on may hold the lock again
                && removals.forget(removal)) {
            context.cleanUp("a grant that was released before a failover", () -> repeat(removal), removal.until());
        }
    }

    private CompletionStage<?> repeat(RecentRemovals.Removal removal) {
        RedisNodeClient node = connections.nodeOf(removal.keys());
        int epoch = node.epoch(); // if this connection ends before the reply, the removal is repeated once more
        return release(node, removal.keys(), removal.attemptId(), "repeated release")
                .thenAccept(reply -> remember(removal.at(epoch)));
    }

    private CompletionStage<List<Object>> release(
            RedisNodeClient node, RedisKeyLayout.OfLock lock, String attemptId, String what) {
        return node.execute(what, RedisLockScript.RELEASE.script(), lock.all(), attemptId, "0", mark());
    }

    /**
     * Releases a grant that was handed off to an attempt which this client no longer has. The attempt was given up, or one of
     * its requests was executed after its withdrawal. Without this the lock would be blocked for a whole lease.
     */
    private void releaseUnclaimed(GrantMessage message) {
        Optional<String> name = keys.lockName(message.key());
        if (name.isEmpty()) {
            log.debug("event=message-ignored length={}", message.key().length());
            return;
        }
        RedisKeyLayout.OfLock lock = keysOf(name.get());
        context.cleanUp(
                "a grant handed off to an attempt for lock \"" + LockName.shown(name.get())
                        + "\" that this client has given up",
                () -> release(connections.nodeOf(lock), lock, message.attemptId(), "release of an unclaimed hand-off"),
                context.clock().now().plus(options.leaseDuration()));
    }

    /** Returns a string that only this client's owner records contain, so that a forged message frees no other grant (S19). */
    String mark() {
        return mark;
    }

    @Override
    public String endpoints() {
        return connections.endpoints();
    }

    @Override
    public String kind() {
        return "redis";
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(
                Capability.FENCING,
                Capability.FAIR,
                Capability.PUSH,
                Capability.CRASH_RELEASE,
                Capability.PER_LOCK_LEASE,
                Capability.HOLDER_INFO,
                Capability.LIST,
                Capability.DELAYED_RELEASE);
    }

    /** Rounds up, because Redis counts expiry times in milliseconds. */
    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return Durations.roundUpToMillis(requested.orElse(options.leaseDuration()));
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener waiter) {
        return new RedisContender(this, request, waiter);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        renewals.renew(due);
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new RedisLockAdmin(this));
    }

    /** Returns the keys of the lock with this name, for administration. */
    RedisKeyLayout.OfLock keysOf(String name) {
        return keys.of(new LockName(name));
    }

    @Override
    public void close() {
        connections.close();
    }
}
