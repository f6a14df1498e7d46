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

/** A server, the context of a client without locks, and a listener that records events. */
public final class NodeFixture implements AutoCloseable {
    public static final Duration SOON = Duration.ofSeconds(20);
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    public final RedisTestServer server = RedisTestServer.start();
    public final BackendContext context;
    final RecordedEvents events = new RecordedEvents();
    private final LockClient client;
    private final ManagedRedisClient<RedisClient> lettuce;

    public NodeFixture() {
        this(open -> BackendClients.open(open, LONG_TIMEOUTS));
    }

    /** Creates a fixture whose timers the test controls. */
    public NodeFixture(LockClock clock) {
        this(open -> BackendClients.open(open, LONG_TIMEOUTS, clock));
    }

    private NodeFixture(Function<Function<BackendContext, LockBackend>, LockClient> opening) {
        AtomicReference<BackendContext> opened = new AtomicReference<>();
        client = opening.apply(context -> {
            opened.set(context);
            return new NoLocks();
        });
        context = Objects.requireNonNull(opened.get());
        lettuce = ManagedRedisClient.toServers(Optional.empty(), context);
    }

    StatefulRedisPubSubConnection<String, String> connect() {
        RedisURI uri = ManagedRedisClient.uri(RedisURI.create(server.url()), context);
        return lettuce.client().connectPubSub(StringCodec.UTF8, uri);
    }

    RedisNodeClient.Target target() {
        return new RedisNodeClient.Target("", server.url(), () -> CompletableFuture.completedFuture(connect()), true);
    }

    /** Returns an open client of the server. */
    public RedisNodeClient node(Duration requestTimeout) {
        RedisNodeClient node = new RedisNodeClient(target(), context, requestTimeout, 0, events);
        node.start("c").toCompletableFuture().join();
        return node;
    }

    @Override
    public void close() {
        client.close();
        lettuce.shutdown(Duration.ofSeconds(1)).join();
        server.close();
    }

    /** A listener that records events in their order. */
    static final class RecordedEvents implements NodeListener {
        final List<RedisNodeClient> listening = Collections.synchronizedList(new ArrayList<>());
        final List<RedisNodeClient> opened = Collections.synchronizedList(new ArrayList<>());
        final List<Throwable> troubles = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void onMessage(RedisNodeClient from, String text) {}

        @Override
        public void onSubscribed(RedisNodeClient node) {
            listening.add(node);
        }

        @Override
        public void onOpened(RedisNodeClient node) {
            opened.add(node);
        }

        @Override
        public void onFailure(RedisNodeClient node, Throwable cause) {
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
        public Duration leaseDuration(Optional<Duration> requested) {
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
