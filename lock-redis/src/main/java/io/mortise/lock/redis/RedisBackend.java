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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The backend for Redis: makes contenders, dispatches the servers' messages to them, renews their grants. */
final class RedisBackend implements LockBackend, ClusterConnections.Listener {
    private static final Logger log = LoggerFactory.getLogger(RedisBackend.class);

    private final RedisOptions options;
    private final BackendContext context;
    private final RedisKeyLayout keys;
    private final MessageSignature signer = new MessageSignature();
    private final ContenderRegistry<RedisContender> mailbox;
    private final RedisConnections link;
    private final RedisRenewals renewals;
    private final GrantConfirmation grantCheck;

    @SuppressWarnings("this-escape") // messages before the constructor ends find an empty mailbox
    private RedisBackend(RedisOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.keys =
                options.isCluster() ? RedisKeyLayout.clustered(options.prefix()) : new RedisKeyLayout(options.prefix());
        this.mailbox = new ContenderRegistry<>(context.clock());
        this.link = options.isCluster()
                ? ClusterConnections.open(options, keys, context, this)
                : SingleMasterConnection.open(options, keys.channel(context.clientId()), context, this);
        this.grantCheck = new GrantConfirmation(link);
        this.renewals = new RedisRenewals(link, grantCheck, context.clock(), context.requestTimeout());
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

    ContenderRegistry<RedisContender> mailbox() {
        return mailbox;
    }

    MessageSignature signer() {
        return signer;
    }

    RedisConnections link() {
        return link;
    }

    GrantConfirmation grantCheck() {
        return grantCheck;
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
    public void message(RedisNodeClient from, String text) {
        Optional<GrantMessage> message = GrantMessage.parse(text);
        if (message.isEmpty() || !signer.isGenuine(message.get())) {
            log.debug("event=message-ignored length={}", text.length()); // anybody may publish anything (S19)
            return;
        }
        Optional<RedisContender> contender = mailbox.find(message.get().attemptId());
        if (contender.isEmpty()) {
            giveBack(message.get());
            return;
        }
        if (message.get() instanceof GrantMessage.Granted granted) {
            contender.get().pushed(granted, from.epoch());
        } else {
            contender.get().wake();
        }
    }

    /** The server may be another one, or have lost what it had: holders hear of that at once (S7). */
    @Override
    public void listening(RedisNodeClient node) {
        mailbox.wakeAll(contender -> contender.waitsAt(node));
        context.renewNow(RedisGrantValidity.class, grant -> link.nodeOf(grant.keys()) == node);
    }

    /** Who waits where its lock is no longer asks where it is now, and so does who holds it. */
    @Override
    public void rerouted() {
        mailbox.wakeAll(RedisContender::isMisplaced);
        context.renewNow(RedisGrantValidity.class, grant -> grant.isMisplaced(link));
    }

    /**
     * No contender here has that attempt id: it was given up, or one of its requests came so late that it was executed
     * after its withdrawal. What it was given is the next one's, not nobody's for a whole lease.
     */
    private void giveBack(GrantMessage message) {
        Optional<String> name = keys.lockName(message.key());
        if (name.isEmpty()) {
            log.debug("event=message-ignored length={}", message.key().length());
            return;
        }
        RedisKeyLayout.OfLock lock = keysOf(name.get());
        context.cleanUp(
                "a grant handed off to an attempt for lock \"" + LockName.shown(name.get())
                        + "\" that nobody here makes any more",
                () -> link.nodeOf(lock)
                        .ask(
                                "giving back a hand-off",
                                RedisScript.RELEASE.script(),
                                lock.all(),
                                message.attemptId(),
                                "0",
                                mark()),
                context.clock().now().plus(options.leaseDuration()));
    }

    /** What every record of this client contains, and none of another's: a forged message takes nothing from others (S19). */
    String mark() {
        return " client=" + context.clientId(); // as CLIENT LIST names its connection
    }

    @Override
    public String endpoints() {
        return link.endpoints();
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
                Capability.LIST);
    }

    /** Redis counts in milliseconds. */
    @Override
    public Duration leaseDuration(Optional<Duration> asked) {
        return Durations.roundUpToMillis(asked.orElse(options.leaseDuration()));
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

    /** For the operator's view. */
    RedisKeyLayout.OfLock keysOf(String name) {
        return keys.of(new LockName(name));
    }

    @Override
    public void close() {
        link.close();
    }
}
