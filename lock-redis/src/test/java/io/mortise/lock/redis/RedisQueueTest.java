// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the queue of one lock with thousands of dead waiters, and what is reported about live ones. */
class RedisQueueTest extends OneServerTest {
    private static final RedisKeyLayout.OfLock X =
            new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX).of(new LockName("x"));
    private static final int DEAD = 5_000;

    private LockClient holder;
    private LockClient client;

    @BeforeEach
    void connect() {
        holder = RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
        client = RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void close() {
        client.close();
        holder.close();
        assertThat(redis.keys("*")).isSubsetOf("lock:%token");
    }

    private CompletableFuture<Lease> waiting() {
        long before = RedisTests.waiters(redis, "x");
        CompletableFuture<Lease> lease = client.named("x").acquireAsync();
        Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == before + 1);
        return lease;
    }

    /** Adds thousands of waiters of a dead process in front of all others. */
    private static void addDeadWaiters() {
        List<String> queue = new ArrayList<>(List.of("ZADD", X.queue()));
        List<String> entries = new ArrayList<>(List.of("HSET", X.entries()));
        for (int i = 0; i < DEAD; i++) {
            String attempt = ScriptFixture.attempt(i);
            queue.addAll(List.of(String.valueOf(i), attempt));
            entries.addAll(List.of(
                    attempt, "nobody-listens 30000 9000000000000000 " + ScriptFixture.NONCE + " " + attempt + " m1"));
        }
        redis.call(queue.toArray(String[]::new));
        redis.call(entries.toArray(String[]::new));
    }

    @Test
    void S12_oneRunOfAScriptRemovesAThousandDeadWaitersAtMost() throws Exception {
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> waiting = waiting();
        addDeadWaiters();
        List<String> ran = redis.monitor(held::release);
        long longest = 0;
        long commands = 0;
        for (String line : ran) {
            commands = line.contains(" lua]") ? commands + 1 : 0;
            longest = Math.max(longest, commands);
        }
        assertThat(longest).as("commands of one run").isBetween(1_000L, 1_200L);
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void S11_S12_aWaiterBehindThousandsOfDeadOnesIsWokenByTheRelease() throws Exception {
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> first = waiting();
        CompletableFuture<Lease> second = waiting();
        addDeadWaiters();
        long start = System.nanoTime();
        held.release();
        Lease next = first.get(10, TimeUnit.SECONDS);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("not by the fallback timer")
                .isLessThan(RedisContender.FALLBACK.minusMillis(500));
        assertThat(second).isNotDone();
        next.close();
        second.get(10, TimeUnit.SECONDS).close();
    }

    /** There is no release then: an acquire repeats its request until all dead waiters are removed. */
    @Test
    void S11_S12_thousandsOfDeadWaitersAndADeadHolderDelayNoAcquire() throws Exception {
        addDeadWaiters();
        long start = System.nanoTime();
        client.named("x").acquireAsync().get(10, TimeUnit.SECONDS).close();
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("not by the fallback timer")
                .isLessThan(RedisContender.FALLBACK.minusMillis(500));
    }

    @Test
    void S18_theStartOfAWaitIsShownHoweverOftenItsRequestIsRepeated() throws Exception {
        try (Lease held = holder.named("x").acquire()) {
            assertThat(held.isHeld()).isTrue();
            CompletableFuture<Lease> waiting = waiting();
            String attempt = String.valueOf(
                    ((List<?>) Objects.requireNonNull(redis.call("ZRANGE", X.queue(), "0", "-1"))).get(0));
            String before = entry(attempt);
            String channel = before.substring(0, before.indexOf(' '));
            redis.call("PUBLISH", channel, RedisTests.signed(redis, "x", attempt, "W " + attempt));
            Await.until(
                    "it has repeated its request",
                    RedisTests.SOON,
                    () -> !entry(attempt).equals(before));
            assertThat(since(entry(attempt))).isEqualTo(since(before));
            waiting.cancel(true);
            Await.until("it is withdrawn", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 0);
        }
    }

    private static String entry(String attempt) {
        return String.valueOf(redis.call("HGET", X.entries(), attempt));
    }

    private static String since(String entry) {
        assertThat(entry).contains(" since=");
        return entry.replaceFirst(".* since=(\\S+).*", "$1");
    }
}
