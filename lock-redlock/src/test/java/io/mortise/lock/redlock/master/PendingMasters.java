// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Connected masters without servers: the scripts that are sent to them wait for the test to answer them. */
final class PendingMasters {
    static final Duration MAX_LEASE = Duration.ofSeconds(30);
    static final RedlockKeys KEYS = new RedlockKeys("lock:");

    static final NodeListener NO_MESSAGES = new NodeListener() {
        @Override
        public void onMessage(RedisNodeClient from, String text) {}

        @Override
        public void onSubscribed(RedisNodeClient node) {}
    };

    /** The time on the masters' clocks, at all times. */
    private static final long NOW = 1_700_000_000_000_000L;

    final ManualClock clock = new ManualClock();
    final RedlockMasters masters;
    final MasterQuarantine quarantine;
    private int begunToVote;
    private final List<Connection> connections = new ArrayList<>();
    final BackendContext context = proxy(BackendContext.class, this::context);

    /** @param runIds the run ids of the masters' processes */
    PendingMasters(String... runIds) {
        masters = new RedlockMasters(new Quorum(runIds.length), clock);
        quarantine = new MasterQuarantine(masters, KEYS, MAX_LEASE, false, context, () -> begunToVote++);
        List<RedlockMaster> all = new ArrayList<>();
        for (String runId : runIds) {
            Connection connection = new Connection(runId);
            connections.add(connection);
            all.add(new RedlockMaster(all.size(), connection.connector(all.size()), clock));
        }
        masters.set(all);
        all.forEach(master -> master.connector().start());
    }

    private Object context(Object proxy, Method method, Object @Nullable [] arguments) {
        return switch (method.getName()) {
            case "clock" -> clock;
            case "blocking" -> (Executor) Runnable::run;
            case "withRequestTimeout" -> Objects.requireNonNull(arguments)[1];
            default -> throw new UnsupportedOperationException(method.getName());
        };
    }

    RedlockMaster get(int master) {
        return masters.all().get(master);
    }

    /** Returns the number of scripts at a master that have no reply. */
    int pending(int master) {
        return connections.get(master).pending.size();
    }

    /** Returns how often the client has acted on the votes of a master that has begun to vote. */
    int begunToVote() {
        return begunToVote;
    }

    /** Answers the oldest script at a master. */
    void reply(int master, List<Object> values) {
        connections.get(master).pending.remove(0).complete(values);
    }

    void fail(int master) {
        connections.get(master).pending.remove(0).completeExceptionally(new IllegalStateException("as planned"));
    }

    /** Returns the reply of a master that votes to a handshake. */
    static List<Object> votes() {
        return withMaxLease(MAX_LEASE);
    }

    /** Returns the reply to a handshake of a master that has been in quarantine for that time. */
    static List<Object> inQuarantineFor(Duration time) {
        return List.of(0L, 1L, NOW - time.toNanos() / 1_000, MAX_LEASE.toMillis(), NOW);
    }

    /** Returns the reply to a handshake of a master that votes for clients with that longest lease. */
    static List<Object> withMaxLease(Duration maxLease) {
        return List.of(1L, 1L, 0L, maxLease.toMillis(), NOW);
    }

    /** Returns the reply of a master that votes to the request for its counters. */
    static List<Object> counters() {
        return Collections.nCopies(RedlockKeys.BUCKETS, 7L);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** A reply to a command that is no script. */
    private static final class Reply extends CompletableFuture<Object> implements RedisFuture<Object> {
        Reply(@Nullable Object value) {
            complete(value);
        }

        @Override
        public @Nullable String getError() {
            return null;
        }

        @Override
        public boolean await(long timeout, TimeUnit unit) {
            return true;
        }
    }

    private final class Connection implements InvocationHandler {
        private final String runId;
        private final List<ScriptCall> pending = Collections.synchronizedList(new ArrayList<>());
        private @Nullable RedisPubSubListener<String, String> listener;

        Connection(String runId) {
            this.runId = runId;
        }

        @SuppressWarnings("unchecked")
        private CompletionStage<StatefulRedisPubSubConnection<String, String>> open() {
            return CompletableFuture.completedFuture(proxy(StatefulRedisPubSubConnection.class, this));
        }

        BackgroundConnect connector(int master) {
            return new BackgroundConnect(
                    new RedisNodeClient.Target("", "redis://master" + master, this::open, false),
                    "channel",
                    context,
                    Duration.ofHours(1),
                    Optional.empty(),
                    quarantine.listener(master, NO_MESSAGES));
        }

        @Override
        @SuppressWarnings("unchecked")
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) {
            return switch (method.getName()) {
                case "async" -> proxy(RedisPubSubAsyncCommands.class, this);
                case "addListener" -> {
                    if (Objects.requireNonNull(arguments)[0] instanceof RedisPubSubListener<?, ?> added) {
                        listener = (RedisPubSubListener<String, String>) added;
                    }
                    yield null;
                }
                case "getStatefulConnection" -> null;
                case "subscribe" -> {
                    Objects.requireNonNull(listener).subscribed("channel", 1);
                    yield new Reply(null);
                }
                case "pubsubNumsub" -> new Reply(Map.of("channel", 1L));
                case "time" -> new Reply(List.of(String.valueOf(NOW / 1_000_000), "0"));
                case "info" -> new Reply("run_id:" + runId);
                case "dispatch" -> {
                    ScriptCall call = (ScriptCall) Objects.requireNonNull(arguments)[0];
                    call.written();
                    pending.add(call);
                    yield call;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            };
        }
    }
}
