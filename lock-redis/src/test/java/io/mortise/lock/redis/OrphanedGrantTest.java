// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that a grant handed off to an attempt that its client has given up goes to the next waiter at once (S8). */
class OrphanedGrantTest {
    private static final RedisKeyLayout KEYS = new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX);
    private static final String ABANDONED = ScriptFixture.attempt(77);

    private RedisTestServer server;
    private RawRedis redis;
    private LockClient client;
    private String channel;
    private String mark;
    private String nonce;

    @BeforeEach
    void open() {
        server = RedisTestServer.start();
        redis = server.connect();
        AtomicReference<RedisBackend> backend = new AtomicReference<>();
        client = BackendClients.open(
                context -> {
                    RedisBackend opened = RedisBackend.open(
                            RedisOptions.connectTo(RedisURI.create("127.0.0.1", server.port())), context);
                    backend.set(opened);
                    return opened;
                },
                RedisTests.LONG_TIMEOUTS);
        mark = Objects.requireNonNull(backend.get()).mark();
        nonce = Objects.requireNonNull(backend.get()).signer().nonce(ABANDONED);
        channel = Objects.requireNonNull(backend.get())
                .connections()
                .nodes()
                .get(0)
                .channel();
    }

    @AfterEach
    void close() {
        client.close();
        redis.close();
        server.close();
    }

    @Test
    void S08_aGrantForAnAbandonedAttemptIsReleased() throws InterruptedException {
        Lease held = client.named("a b").acquire();
        enqueue("a b");
        held.release();
        Await.until(
                "the lock is free",
                RedisTests.SOON,
                () -> Long.valueOf(0).equals(redis.call("EXISTS", grantKey("a b"))));
        assertThat(redis.keys("*")).containsExactly("lock:%token");
    }

    @Test
    void S08_aWakeForAnAbandonedAttemptIsPassedOn() throws InterruptedException {
        Lease held = client.named("x").acquire();
        String value = String.valueOf(redis.call("GET", grantKey("x")));
        redis.call("SET", grantKey("x"), value + " row=16:1", "PX", "60000"); // so that the next attempt is only woken
        enqueue("x");
        held.release();
        Await.until("the queue is empty", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 0);
        assertThat(redis.keys("*")).containsExactly("lock:%token");
    }

    /** An attempt that did not wait gets no messages, but others can read its id in logs and in the store. */
    @Test
    void S19_aForgedMessageEndsNoLease() throws InterruptedException {
        Lease held = client.named("x").acquire();
        Lease unqueued = client.named("y").tryAcquire().orElseThrow();
        assertIgnored(
                "G " + attempt("x") + " 1 1", "W " + attempt("x"), "W " + attempt("y"), "G " + ABANDONED + " 1 1");
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(unqueued.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void S19_noMessageMakesAClientReleaseTheLeaseOfAnother() throws InterruptedException {
        try (LockClient other =
                RedisLocks.connect(RedisOptions.connectTo(RedisURI.create(server.url())), RedisTests.LONG_TIMEOUTS)) {
            Lease held = other.named("x").acquire();
            assertIgnored("G " + attempt("x") + " 1 1", "W " + attempt("x"));
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** Publishes messages and asserts that the client sent no request because of them, by the time of a later reply. */
    private void assertIgnored(String... messages) throws InterruptedException {
        client.named("barrier").acquire().close();
        redis.resetCommandCalls();
        for (String message : messages) {
            redis.call("PUBLISH", channel, message + " lock:x");
            redis.call("PUBLISH", channel, message + " " + "0".repeat(40) + " lock:x");
            redis.call("PUBLISH", channel, message + " " + "0".repeat(40) + " lock:y");
        }
        client.named("barrier").acquire().close();
        assertThat(redis.scriptCallsExceptRenewals())
                .as("the two requests of the barrier")
                .isEqualTo(2);
    }

    private String attempt(String lock) {
        return String.valueOf(redis.call("GET", grantKey(lock))).substring(0, 32);
    }

    private void enqueue(String lock) {
        RedisKeyLayout.OfLock keys = KEYS.of(new LockName(lock));
        String entry = channel + " 60000 9000000000000000 " + nonce + " " + ABANDONED + " m1 mode=x" + mark;
        redis.call("ZADD", keys.queue(), "1", ABANDONED);
        redis.call("HSET", keys.entries(), ABANDONED, entry);
        assertThat(List.of(ABANDONED)).isEqualTo(redis.call("ZRANGE", keys.queue(), "0", "-1"));
    }

    private static String grantKey(String lock) {
        return KEYS.of(new LockName(lock)).grant();
    }
}
