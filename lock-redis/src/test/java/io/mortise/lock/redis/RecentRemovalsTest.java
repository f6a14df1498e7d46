// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests when a client repeats a removal, and that it remembers a fixed number. {@link ClusterMovesTest} tests real failovers. */
class RecentRemovalsTest {
    private static final RedisKeyLayout.OfLock KEYS = new RedisKeyLayout("lock:").of(new LockName("x"));
    private static final Duration LONG = Duration.ofMinutes(10);

    private RedisTestServer server;
    private RawRedis redis;
    private LockClient client;
    private RedisBackend backend;

    @BeforeEach
    void connect() {
        server = RedisTestServer.start();
        redis = server.connect();
        AtomicReference<RedisBackend> opened = new AtomicReference<>();
        RedisOptions options = RedisOptions.connectTo(RedisURI.create("redis://127.0.0.1:" + server.port()));
        client = BackendClients.open(
                context -> {
                    opened.set(RedisBackend.open(options, context));
                    return Objects.requireNonNull(opened.get());
                },
                RedisTests.LONG_TIMEOUTS);
        backend = Objects.requireNonNull(opened.get());
    }

    @AfterEach
    void close() {
        client.close();
        redis.close();
        server.close();
    }

    private void set(String grant) {
        redis.call("SET", KEYS.grant(), grant, "PX", String.valueOf(LONG.toMillis()));
    }

    private void awaitFree() {
        Await.until(
                "the lock is free", RedisTests.SOON, () -> Long.valueOf(0).equals(redis.call("EXISTS", KEYS.grant())));
    }

    /** As behind a virtual IP address, and if the first try of the release was executed, but had no reply. */
    @Test
    void S08_aReleaseThatFoundNothingIsRepeatedOnTheNextConnection() throws Exception {
        Lease lease =
                client.named("x", LockOptions.defaults().leaseDuration(LONG)).acquire();
        String grant = String.valueOf(redis.call("GET", KEYS.grant()));
        redis.call("DEL", KEYS.grant());
        lease.release();
        set(grant);
        redis.call("CLIENT", "KILL", "TYPE", "pubsub");
        awaitFree();
    }

    /** The reply comes when the connection to the new master has subscribed. */
    @Test
    void S08_aRemovalByAReplacedServerIsRepeatedOnce() throws Exception {
        client.named("y").acquire().release(); // so that the server knows the scripts
        String attempt = ScriptFixture.attempt(1);
        set(attempt + backend.mark());
        redis.resetCommandCalls();
        int replaced = backend.connections().nodeOf(KEYS).epoch() - 1;
        backend.onRemoved(KEYS, attempt, replaced, LONG);
        awaitFree();
        client.named("y").acquire().release();
        assertThat(redis.scriptCallsExceptRenewals()).isEqualTo(3);
    }

    @Test
    void S17_onlyTheLatestAreRemembered() {
        RecentRemovals removals = new RecentRemovals();
        MonotonicInstant until = new MonotonicInstant(2);
        for (int i = 0; i <= RecentRemovals.MOST; i++) {
            removals.add(new RecentRemovals.Removal(KEYS, "a" + i, 1, until));
        }
        removals.add(new RecentRemovals.Removal(KEYS, "a" + RecentRemovals.MOST, 2, until));
        assertThat(removals.all(new MonotonicInstant(1)))
                .hasSize(RecentRemovals.MOST)
                .noneMatch(removal -> removal.attemptId().equals("a0"))
                .endsWith(new RecentRemovals.Removal(KEYS, "a" + RecentRemovals.MOST, 2, until));
        assertThat(removals.all(until)).isEmpty();
    }
}
