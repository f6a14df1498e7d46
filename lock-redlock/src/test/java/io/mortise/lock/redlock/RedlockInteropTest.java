// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Others who follow the published algorithm on the same masters: {@code SET NX PX} at each, a majority decides, and a script
 * that compares and deletes.
 */
@Tag("once")
class RedlockInteropTest extends FiveMastersTest {
    private static final String COMPARE_AND_DELETE =
            "if redis.call(\"get\",KEYS[1]) == ARGV[1] then return redis.call(\"del\",KEYS[1]) else return 0 end";

    /** At how many of the first masters somebody now has the lock. */
    private static int take(int most, String key, String value, long millis) {
        int taken = 0;
        for (int i = 0; i < most; i++) {
            try (RawRedis redis = masters.get(i).connect()) {
                taken += "OK".equals(redis.call("SET", key, value, "NX", "PX", String.valueOf(millis))) ? 1 : 0;
            }
        }
        return taken;
    }

    private static long free(String key, String value) {
        return masters.sum(redis -> (Long) redis.call("EVAL", COMPARE_AND_DELETE, "1", key, value));
    }

    private static List<LockHolder> holders(DistributedLock lock) throws Exception {
        return lock.status().get(10, TimeUnit.SECONDS).holders();
    }

    @Test
    void S01_foreignMajorityExcludesMortiseAndIsShownAsHolder() throws Exception {
        LockClient client = client();
        DistributedLock lock = client.named("x");
        assertThat(take(3, "lock:x", "somebody", 30_000)).isEqualTo(3);
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryAcquire(Duration.ofSeconds(1))).isEmpty();
        LockAdmin admin = client.admin().orElseThrow();
        assertThat(admin.status("x").get(10, TimeUnit.SECONDS).holders())
                .singleElement()
                .satisfies(holder -> {
                    assertThat(holder.foreign()).isTrue();
                    assertThat(holder.raw()).isEqualTo("somebody");
                });
        assertThat(free("lock:x", "another")).isZero();
        assertThat(free("lock:x", "somebody")).isEqualTo(3);
        assertThat(holders(lock)).isEmpty();
        lock.tryAcquire().orElseThrow().close();
    }

    @Test
    void S01_foreignMinorityDoesNotExcludeMortise() throws Exception {
        DistributedLock lock = client().named("x");
        assertThat(take(2, "lock:x", "somebody", 30_000)).isEqualTo(2);
        try (Lease lease = lock.tryAcquire().orElseThrow()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(holders(lock)).singleElement().matches(holder -> !holder.foreign());
        }
        assertThat(holders(lock)).isEmpty();
        assertThat(free("lock:x", "somebody")).as("not touched").isEqualTo(2);
    }

    @Test
    void S01_othersCannotAcquireOrReleaseOurLock() throws Exception {
        Lease lease = client().named("x").acquire();
        masters.each(redis -> {
            Await.until("it has voted", SOON, () -> redis.call("GET", "lock:x") != null);
            assertThat((Long) redis.call("PTTL", "lock:x")).isPositive();
        });
        assertThat(take(5, "lock:x", "somebody", 30_000)).isZero();
        assertThat(free("lock:x", "somebody")).isZero();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        awaitNothingLeft();
        assertThat(take(5, "lock:x", "somebody", 30_000)).isEqualTo(5);
        assertThat(free("lock:x", "somebody")).isEqualTo(5);
    }

    @Test
    void S13_keyIsPrefixAndEscapedName() throws Exception {
        DistributedLock lock = client().named("order/1 ä%:x");
        String key = keys("order/1 ä%:x").grant();
        try (Lease lease = lock.acquire()) {
            masters.each(redis ->
                    Await.until("it has voted", SOON, () -> redis.keys("*").contains(key)));
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(key).isEqualTo("lock:order%2F1%20%C3%A4%25:x");
    }

    @Test
    void S11_expiredForeignLockIsAcquiredSoon() throws Exception {
        DistributedLock lock = client().named("x");
        long start = System.nanoTime(); // before the first of them is there
        assertThat(take(5, "lock:x", "somebody", 1_000)).isEqualTo(5);
        try (Lease lease = lock.tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(Duration.ofMillis(800), Duration.ofSeconds(4));
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** They publish nothing. */
    @Test
    void S11_releasedForeignLockIsAcquiredAtTheNextRetry() throws Exception {
        DistributedLock lock = client().named("x");
        assertThat(take(5, "lock:x", "somebody", 60_000)).isEqualTo(5);
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        masters.each(redis -> Await.until(
                "it is queued",
                SOON,
                () -> Long.valueOf(1).equals(redis.call("ZCARD", keys("x").queue()))));
        assertThat(free("lock:x", "somebody")).isEqualTo(5);
        waiting.get(15, TimeUnit.SECONDS).close();
    }
}
