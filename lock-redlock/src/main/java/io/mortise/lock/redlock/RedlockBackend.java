// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.ManagedRedisClient;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redlock.admin.RedlockAdmin;
import io.mortise.lock.redlock.grant.ContenderServices;
import io.mortise.lock.redlock.grant.RedlockContender;
import io.mortise.lock.redlock.grant.RedlockRenewals;
import io.mortise.lock.redlock.master.ConnectMajorityWait;
import io.mortise.lock.redlock.master.MasterQuarantine;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.master.RedlockMasters;
import io.mortise.lock.redlock.storage.LockReleasedMessage;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.support.BoundedCloseWait;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects one client to its Redlock masters, creates contenders, and routes messages from the masters to the contenders. */
final class RedlockBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(RedlockBackend.class);

    private final RedlockOptions options;
    private final BackendContext context;
    private final Duration nodeTimeout;
    private final RedlockKeys keys;
    private final RedlockMasters masters;
    private final MasterQuarantine quarantine;
    private final ContenderRegistry<RedlockContender> contenders;
    private final RedlockRenewals renewal;
    private final ContenderServices services;
    private final @Nullable ManagedRedisClient<RedisClient>
            managedClient; // null if the application supplies its clients

    private RedlockBackend(RedlockOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.nodeTimeout = options.nodeTimeout(context);
        this.keys = new RedlockKeys(options.prefix());
        this.contenders = new ContenderRegistry<>(context.clock());
        this.masters = new RedlockMasters(new Quorum(options.masterCount()), context.clock());
        this.quarantine = new MasterQuarantine(
                masters, keys, options.maxLease(), options.isTestOnlyNewMasters(), context, this::onMasterVotes);
        this.renewal = new RedlockRenewals(masters, quarantine, context.clock());
        this.services = new ContenderServices(context, keys, masters, quarantine, contenders, RedlockVoteSummary::of);
        this.managedClient =
                options.uris().isEmpty() ? null : ManagedRedisClient.toServers(options.sslOptions(), context);
    }

    /** Opens a backend and waits until a majority votes. */
    static RedlockBackend open(RedlockOptions options, BackendContext context) {
        options.check();
        RedlockBackend backend = new RedlockBackend(options, context);
        try {
            backend.start();
            options.exposureCheck().ifPresent(StoreExposureCheck::log);
            return backend;
        } catch (RuntimeException | Error e) {
            backend.closeConnections(); // not awaited: an unresponsive server would delay the error
            throw e;
        }
    }

    private void start() {
        List<String> endpoints = options.endpoints();
        List<RedlockMaster> all = new ArrayList<>();
        for (int index = 0; index < options.masterCount(); index++) {
            RedisNodeClient.Target target = new RedisNodeClient.Target("", endpoints.get(index), connect(index), false);
            NodeListener listener = quarantine.listener(index, new MessageListener(index));
            all.add(new RedlockMaster(
                    index,
                    new BackgroundConnect(
                            target,
                            keys.channel(context.clientId()),
                            context,
                            nodeTimeout,
                            managedClient == null
                                    ? Optional.empty()
                                    : Optional.of(options.uris().get(index)),
                            listener),
                    context.clock()));
        }
        masters.set(all);
        all.forEach(master -> master.connector().start());
        if (options.isTestOnlyNewMasters()) {
            log.warn(
                    "event=test-only-new-masters endpoints={} what=\"masters without data are treated as new: if they have lost"
                            + " their data, two clients can hold one lock; never use testOnlyNewMasters in production\"",
                    options);
        }
        ConnectMajorityWait wait = new ConnectMajorityWait(masters, options.toString(), options.maxLease(), context);
        wait.start();
        ConnectRetrier.of(endpoints(), wait.longest())
                .withTimeoutMessage(wait::failureMessage)
                .await(
                        masters.majorityVotes(),
                        failure -> failure.getCause() instanceof LockException known
                                ? known
                                : new LockConfigurationException("", failure));
    }

    private Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect(int index) {
        if (managedClient == null) {
            RedisClient client = options.clients().get(index);
            return () -> CompletableFuture.completedFuture(client.connectPubSub(StringCodec.UTF8));
        }
        RedisURI uri = ManagedRedisClient.uri(options.uris().get(index), context);
        return () -> CompletableFuture.completedFuture(managedClient.client().connectPubSub(StringCodec.UTF8, uri));
    }

    /**
     * Wakes all waiters and renews all grants when a master begins to vote. That master may have lost queue entries and grants,
     * and its messages may have been missed.
     */
    private void onMasterVotes() {
        contenders.wakeAll(RedlockContender::isWaiting);
        context.renewNow(GrantValidity.class, grant -> true);
    }

    /** Receives the messages that one master publishes for this client. */
    private final class MessageListener implements NodeListener {
        private final int index;

        MessageListener(int index) {
            this.index = index;
        }

        @Override
        public void onMessage(RedisNodeClient from, String text) {
            Optional<LockReleasedMessage> message = LockReleasedMessage.parse(text);
            if (message.isEmpty()) {
                log.debug("event=message-ignored length={}", text.length());
                return;
            }
            Optional<RedlockContender> contender = contenders.find(message.get().attemptId());
            if (contender.isPresent()) {
                contender.get().lockMayBeFree(index);
            } else {
                forward(from, message.get());
            }
        }

        @Override
        public void onSubscribed(RedisNodeClient node) {}
    }

    /**
     * Deletes the queue entry of an attempt that no longer waits in this client, so that the master wakes the next contender.
     * Since any Redis client can publish a message, this deletes neither a grant nor the queue entry of another client (S19).
     */
    private void forward(RedisNodeClient node, LockReleasedMessage message) {
        Optional<LockName> name = keys.lockName(message.key());
        name.ifPresent(lock -> node.execute(
                        "forwarding a hint",
                        RedlockScript.RELEASE.script(),
                        keys.of(lock).all(),
                        message.attemptId(),
                        "0",
                        services.clientMark())
                .whenComplete((ok, failure) -> {
                    if (failure != null) {
                        log.debug("event=hint-not-forwarded master={}", node.endpoints(), failure);
                    }
                }));
    }

    ContenderServices services() {
        return services;
    }

    @Override
    public String endpoints() {
        return options.toString();
    }

    @Override
    public String kind() {
        return "redlock";
    }

    /** Returns no {@code FAIR}: the first contender to win a majority gets the lock, whatever its queue positions. */
    @Override
    public Set<Capability> capabilities() {
        return Set.of(
                Capability.FENCING,
                Capability.PUSH,
                Capability.CRASH_RELEASE,
                Capability.PER_LOCK_LEASE,
                Capability.HOLDER_INFO,
                Capability.LIST,
                Capability.DELAYED_RELEASE);
    }

    /** Rounds up to milliseconds, the unit of Redis, and rejects a lease that one slow master could use up. */
    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        Duration rounded = Durations.roundUpToMillis(requested.orElse(options.leaseDuration()));
        options.checkLease(rounded, nodeTimeout);
        options.checkMaxLease(rounded);
        return rounded;
    }

    /** Rejects a delay beyond {@code maxLease}: a master that has lost its data votes again after that time. */
    @Override
    public void checkReleaseDelay(Duration delay) {
        if (delay.compareTo(options.maxLease()) > 0) {
            throw new IllegalArgumentException(
                    "delay is " + delay + ", must be at most maxLease, " + options.maxLease());
        }
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        return new RedlockContender(services, request, listener);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        renewal.renew(due);
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new RedlockAdmin(masters, keys, options.exposureCheck(), endpoints()));
    }

    private CompletableFuture<?> closeConnections() {
        masters.all().forEach(master -> master.connector().announceClose());
        return managedClient != null
                ? managedClient.shutdown(BoundedCloseWait.LIMIT)
                : CompletableFuture.allOf(masters.all().stream()
                        .map(master -> master.connector().close())
                        .toArray(CompletableFuture[]::new));
    }

    @Override
    public void close() {
        BoundedCloseWait.await(closeConnections(), context.requestTimeout(), "endpoints=" + endpoints());
    }
}
