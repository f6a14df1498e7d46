// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LossReason;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests locks together with clients that use SET NX PX and compare-and-delete, the documented pattern, on the same key. */
@Tag("once")
class RedisInteropTest extends OneServerTest {
    private static final String COMPARE_AND_DELETE =
            "if redis.call(\"get\",KEYS[1]) == ARGV[1] then return redis.call(\"del\",KEYS[1]) else return 0 end";

    private static LockClient client() {
        return RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
    }

    private static boolean take(String value, long millis) {
        return "OK".equals(redis.call("SET", "lock:x", value, "NX", "PX", String.valueOf(millis)));
    }

    private static boolean release(String value) {
        return Long.valueOf(1).equals(redis.call("EVAL", COMPARE_AND_DELETE, "1", "lock:x", value));
    }

    @Test
    void S01_eachExcludesTheOther() throws Exception {
        try (LockClient client = client()) {
            DistributedLock lock = client.named("x");
            Lease lease = lock.acquire();
            assertThat(take("somebody", 30_000)).isFalse();
            assertThat(release("somebody")).isFalse();
            lease.close();
            assertThat(take("somebody", 30_000)).isTrue();
            assertThat(lock.tryAcquire()).isEmpty();
            LockHolder holder =
                    lock.status().get(10, TimeUnit.SECONDS).holders().get(0);
            assertThat(holder.isForeign()).isTrue();
            assertThat(holder.raw()).isEqualTo("somebody");
            assertThat(release("somebody")).isTrue();
            lock.tryAcquire().orElseThrow().close();
        }
    }

    /** The keys of such clients need not begin with Mortise's default prefix. */
    @Test
    void S01_S13_aKeyOfTheirsIsAPrefixAndAName() throws Exception {
        try (LockClient client = RedisLocks.connect(options().prefix("orders:job-"), RedisTests.LONG_TIMEOUTS)) {
            assertThat(redis.call("SET", "orders:job-42", "somebody", "NX", "PX", "30000"))
                    .isEqualTo("OK");
            assertThat(client.named("42").tryAcquire()).isEmpty();
            redis.call("DEL", "orders:job-42");
            try (Lease lease = client.named("42").tryAcquire().orElseThrow()) {
                assertThat(redis.call("SET", "orders:job-42", "somebody", "NX", "PX", "30000"))
                        .isNull();
                assertThat(lease.isHeld()).isTrue();
            }
        }
    }

    /** A client that deletes without comparing removes Mortise's grant, which the next renewal notices. */
    @Test
    void S07_whoDeletesWithoutComparingTakesOurLockAway() throws Exception {
        try (LockClient client =
                RedisLocks.connect(options().leaseDuration(Duration.ofSeconds(9)), RedisTests.LONG_TIMEOUTS)) {
            Lease lease = client.named("x").acquire();
            redis.call("DEL", "lock:x");
            assertThat(lease.lost().get(10, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.REMOVED);
        }
    }

    @Test
    void S11_expiredForeignLockIsAcquiredSoon() throws Exception {
        try (LockClient client = client()) {
            long start = System.nanoTime(); // before the key exists
            assertThat(take("somebody", 1_000)).isTrue();
            try (Lease lease =
                    client.named("x").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isBetween(Duration.ofMillis(900), Duration.ofMillis(4_500)); // not by the fallback timer
                assertThat(lease.isHeld()).isTrue();
            }
        }
    }

    /** Such clients publish no message when they release. */
    @Test
    void S11_releasedForeignLockIsAcquiredAtTheNextRetry() throws Exception {
        try (LockClient client = client()) {
            assertThat(take("somebody", 60_000)).isTrue();
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 1);
            assertThat(release("somebody")).isTrue();
            waiting.get(15, TimeUnit.SECONDS).close();
        }
    }

    /** Mortise's queue is never empty and hands the lock off without pause, but leaves it free from time to time. */
    @Test
    void S12_theyAreNotStarvedByOurQueue() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger cycles = new AtomicInteger();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (LockClient client = client()) {
            DistributedLock lock = client.named("x");
            Future<?> loop = thread.submit(() -> {
                Lease lease = lock.acquire();
                while (!stop.get()) {
                    CompletableFuture<Lease> next = lock.acquireAsync(); // sent before the release, so it is queued
                    lease.release();
                    lease = next.get(20, TimeUnit.SECONDS);
                    cycles.incrementAndGet();
                }
                return lease.release();
            });
            Await.until("more hand-offs than one row has", RedisTests.SOON, () -> cycles.get() > 16);
            long limit = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            boolean taken = false;
            while (!taken && System.nanoTime() - limit < 0) {
                taken = take("outsider", 10_000);
            }
            stop.set(true);
            assertThat(taken).isTrue();
            assertThat(release("outsider")).isTrue();
            loop.get(20, TimeUnit.SECONDS);
        } finally {
            stop.set(true);
            thread.shutdownNow();
        }
    }
}
