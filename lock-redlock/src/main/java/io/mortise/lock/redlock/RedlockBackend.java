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
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.ContenderRegistry;
import io.mortise.lock.redis.node.ManagedRedisClient;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.spi.AccessCheck;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.CloseDeadline;
import io.mortise.lock.spi.ConnectDeadline;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.KeepAlive;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
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

/** The SPI over a majority of masters: contenders, and the hints for them. */
final class RedlockBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(RedlockBackend.class);

    private final RedlockOptions options;
    private final BackendContext context;
    private final Duration nodeTimeout;
    private final RedlockKeys keys;
    private final Masters masters;
    private final Admissions admissions;
    private final ContenderRegistry<RedlockContender> mailbox;
    private final Renewals renewals;
    private final @Nullable ManagedRedisClient<RedisClient> own;

    private RedlockBackend(RedlockOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.nodeTimeout = options.nodeTimeout(context);
        this.keys = new RedlockKeys(options.prefix());
        this.mailbox = new ContenderRegistry<>(context.clock());
        this.masters = new Masters(new Quorum(options.size()), context.clock());
        this.admissions = new Admissions(masters, keys, options, context, this::wakeAll);
        this.renewals = new Renewals(masters, admissions, context.clock());
        this.own = options.uris().isEmpty() ? null : ManagedRedisClient.toServers(options.sslOptions(), context);
    }

    /** Waits until a majority votes. */
    static RedlockBackend open(RedlockOptions options, BackendContext context) {
        options.check();
        RedlockBackend backend = new RedlockBackend(options, context);
        try {
            backend.start();
            options.access().ifPresent(AccessCheck::log);
            return backend;
        } catch (RuntimeException | Error e) {
            backend.end(); // not awaited: what does not answer would not answer this either
            throw e;
        }
    }

    private void start() {
        List<String> endpoints = options.endpoints();
        List<Master> all = new ArrayList<>();
        for (int index = 0; index < options.size(); index++) {
            RedisNode.Target target = new RedisNode.Target("", endpoints.get(index), connect(index), false);
            NodeListener listener = masters.listener(index, admissions, new Hints(index));
            all.add(new Master(
                    index,
                    new BackgroundConnect(
                            target,
                            keys.channel(context.clientId()),
                            context,
                            nodeTimeout,
                            own == null
                                    ? Optional.empty()
                                    : Optional.of(options.uris().get(index)),
                            listener),
                    context.clock()));
        }
        masters.are(all);
        all.forEach(master -> master.opening().start());
        FirstQuorum wait = new FirstQuorum(masters, options, context);
        wait.start();
        ConnectDeadline.of(endpoints(), wait.longest())
                .orSay(wait::inVain)
                .await(
                        masters.ready(),
                        failure -> failure.getCause() instanceof LockException known
                                ? known
                                : new LockConfigurationException("", failure));
    }

    private Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect(int index) {
        if (own == null) {
            RedisClient client = options.clients().get(index);
            return () -> CompletableFuture.completedFuture(client.connectPubSub(StringCodec.UTF8));
        }
        RedisURI uri = ManagedRedisClient.uri(options.uris().get(index), context);
        return () -> CompletableFuture.completedFuture(own.client().connectPubSub(StringCodec.UTF8, uri));
    }

    /** A master votes that did not: what it published meanwhile was not heard, and places in line and grants may be gone there. */
    private void wakeAll() {
        mailbox.wakeAll(RedlockContender::isWaiting);
        context.renewNow(grant -> true);
    }

    /** What one master publishes for this client. */
    private final class Hints implements NodeListener {
        private final int index;

        Hints(int index) {
            this.index = index;
        }

        @Override
        public void message(RedisNode from, String text) {
            Optional<Hint> hint = Hint.parse(text);
            if (hint.isEmpty()) {
                log.debug("event=message-ignored length={}", text.length());
                return;
            }
            Optional<RedlockContender> contender = mailbox.find(hint.get().attemptId());
            if (contender.isPresent()) {
                contender.get().hint(index);
            } else {
                passOn(from, hint.get());
            }
        }

        @Override
        public void listening(RedisNode node) {}
    }

    /**
     * Nobody here waits with that attempt any more: its place is given up there, and the next one is woken. Anybody can publish a
     * hint: it takes neither a vote nor another client's place (S19).
     */
    private void passOn(RedisNode at, Hint hint) {
        Optional<LockName> name = keys.lockName(hint.key());
        name.ifPresent(lock -> at.ask(
                        "passing on a hint",
                        RedlockScript.RELEASE.script(),
                        keys.of(lock).all(),
                        hint.attemptId(),
                        "0",
                        mark())
                .whenComplete((ok, failure) -> {
                    if (failure != null) {
                        log.debug("event=hint-kept master={}", at.endpoints(), failure);
                    }
                }));
    }

    BackendContext context() {
        return context;
    }

    RedlockKeys keys() {
        return keys;
    }

    Optional<AccessCheck> access() {
        return options.access();
    }

    Masters masters() {
        return masters;
    }

    Admissions admissions() {
        return admissions;
    }

    ContenderRegistry<RedlockContender> mailbox() {
        return mailbox;
    }

    /** What is stored beside each vote. */
    String record(LockRequest request) {
        return request.ownerRecord() + mark();
    }

    /** What every record of this client contains, and none of another's. */
    private String mark() {
        return " client=" + context.clientId(); // as CLIENT LIST names its connections
    }

    @Override
    public String endpoints() {
        return options.toString();
    }

    /** No FAIR: whoever wins a majority first has the lock, wherever it stood in line. */
    @Override
    public Set<Capability> capabilities() {
        return Set.of(
                Capability.FENCING,
                Capability.PUSH,
                Capability.CRASH_RELEASE,
                Capability.PER_LOCK_LEASE,
                Capability.HOLDER_INFO,
                Capability.LIST);
    }

    /** Redis counts in milliseconds. One that a slow master would use up by itself is refused. */
    @Override
    public Duration leaseDuration(Optional<Duration> asked) {
        Duration lease = asked.orElse(options.leaseDuration());
        Duration whole = Duration.ofMillis(lease.toMillis());
        Duration rounded = whole.equals(lease) ? lease : whole.plusMillis(1);
        options.checkLease(rounded, nodeTimeout);
        options.checkMaxLease(rounded);
        return rounded;
    }

    @Override
    public boolean queuesWaiters() {
        return true;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener waiter) {
        return new RedlockContender(this, request, waiter);
    }

    @Override
    public void renew(List<KeepAlive> due) {
        renewals.renew(due);
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.of(new RedlockAdmin(this));
    }

    private CompletableFuture<?> end() {
        masters.all().forEach(master -> master.opening().closing());
        return own != null
                ? own.shutdown(CloseDeadline.LIMIT)
                : CompletableFuture.allOf(masters.all().stream()
                        .map(master -> master.opening().close())
                        .toArray(CompletableFuture[]::new));
    }

    @Override
    public void close() {
        CloseDeadline.await(end(), context.requestTimeout(), "endpoints=" + endpoints());
    }
}
