// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.redis.client.ManagedRedisClient;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** A server, a client that lends its context, and what a listener was told. Without locks. */
public final class NodeFixture implements AutoCloseable {
    public static final Duration SOON = Duration.ofSeconds(20);
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    public final RedisTestServer server = RedisTestServer.start();
    public final BackendContext context;
    final Told told = new Told();
    private final LockClient client;
    private final ManagedRedisClient<RedisClient> lettuce;

    public NodeFixture() {
        this(open -> BackendClients.over(open, LONG_TIMEOUTS));
    }

    /** Whose timers the test cranks. */
    public NodeFixture(LockClock clock) {
        this(open -> BackendClients.over(open, LONG_TIMEOUTS, clock));
    }

    private NodeFixture(Function<Function<BackendContext, LockBackend>, LockClient> opening) {
        AtomicReference<BackendContext> lent = new AtomicReference<>();
        client = opening.apply(context -> {
            lent.set(context);
            return new NoLocks();
        });
        context = Objects.requireNonNull(lent.get());
        lettuce = ManagedRedisClient.toServers(Optional.empty(), context);
    }

    StatefulRedisPubSubConnection<String, String> connect() {
        RedisURI uri = ManagedRedisClient.uri(RedisURI.create(server.url()), context);
        return lettuce.client().connectPubSub(StringCodec.UTF8, uri);
    }

    RedisNodeClient.Target target() {
        return new RedisNodeClient.Target("", server.url(), () -> CompletableFuture.completedFuture(connect()), true);
    }

    /** An open one. */
    public RedisNodeClient node(Duration requestTimeout) {
        RedisNodeClient node = new RedisNodeClient(target(), context, requestTimeout, 0, told);
        node.start("c").toCompletableFuture().join();
        return node;
    }

    @Override
    public void close() {
        client.close();
        lettuce.shutdown(Duration.ofSeconds(1)).join();
        server.close();
    }

    /** In the order in which it was told. */
    static final class Told implements NodeListener {
        final List<RedisNodeClient> listening = Collections.synchronizedList(new ArrayList<>());
        final List<RedisNodeClient> opened = Collections.synchronizedList(new ArrayList<>());
        final List<Throwable> troubles = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void message(RedisNodeClient from, String text) {}

        @Override
        public void listening(RedisNodeClient node) {
            listening.add(node);
        }

        @Override
        public void opened(RedisNodeClient node) {
            opened.add(node);
        }

        @Override
        public void trouble(RedisNodeClient node, Throwable cause) {
            troubles.add(cause);
        }
    }

    private static final class NoLocks implements LockBackend {
        @Override
        public String endpoints() {
            return "none";
        }

        @Override
        public Set<Capability> capabilities() {
            return Set.of();
        }

        @Override
        public Duration leaseDuration(Optional<Duration> asked) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean queuesWaiters() {
            return true;
        }

        @Override
        public Contender enqueue(LockRequest request, ContenderListener waiter) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void renew(List<GrantValidity> due) {}

        @Override
        public void close() {}
    }
}
