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
 * Tests that Mortise and other libraries that follow the published Redlock algorithm exclude each other on the same masters.
 *
 * <p>These libraries send {@code SET NX PX} to each master, need a majority, and release with a script that compares and
 * deletes.
 */
@Tag("once")
class RedlockInteropTest extends FiveMastersTest {
    private static final String COMPARE_AND_DELETE =
            "if redis.call(\"get\",KEYS[1]) == ARGV[1] then return redis.call(\"del\",KEYS[1]) else return 0 end";

    /** Acquires the lock at the first masters as another library would, and returns the number of successes. */
    private static int foreignAcquire(int count, String key, String value, long millis) {
        int acquired = 0;
        for (int i = 0; i < count; i++) {
            try (RawRedis redis = masters.get(i).connect()) {
                acquired += "OK".equals(redis.call("SET", key, value, "NX", "PX", String.valueOf(millis))) ? 1 : 0;
            }
        }
        return acquired;
    }

    private static long foreignRelease(String key, String value) {
        return masters.sum(redis -> (Long) redis.call("EVAL", COMPARE_AND_DELETE, "1", key, value));
    }

    private static List<LockHolder> holders(DistributedLock lock) throws Exception {
        return lock.status().get(10, TimeUnit.SECONDS).holders();
    }

    @Test
    void S01_foreignMajorityExcludesMortiseAndIsShownAsHolder() throws Exception {
        LockClient client = client();
        DistributedLock lock = client.named("x");
        assertThat(foreignAcquire(3, "lock:x", "foreign", 30_000)).isEqualTo(3);
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryAcquire(Duration.ofSeconds(1))).isEmpty();
        LockAdmin admin = client.admin().orElseThrow();
        assertThat(admin.status("x").get(10, TimeUnit.SECONDS).holders())
                .singleElement()
                .satisfies(holder -> {
                    assertThat(holder.isForeign()).isTrue();
                    assertThat(holder.raw()).isEqualTo("foreign");
                });
        assertThat(foreignRelease("lock:x", "another")).isZero();
        assertThat(foreignRelease("lock:x", "foreign")).isEqualTo(3);
        assertThat(holders(lock)).isEmpty();
        lock.tryAcquire().orElseThrow().close();
    }

    @Test
    void S01_foreignMinorityDoesNotExcludeMortise() throws Exception {
        DistributedLock lock = client().named("x");
        assertThat(foreignAcquire(2, "lock:x", "foreign", 30_000)).isEqualTo(2);
        try (Lease lease = lock.tryAcquire().orElseThrow()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(holders(lock)).singleElement().matches(holder -> !holder.isForeign());
        }
        assertThat(holders(lock)).isEmpty();
        assertThat(foreignRelease("lock:x", "foreign"))
                .as("foreign votes that were not touched")
                .isEqualTo(2);
    }

    @Test
    void S01_otherLibrariesCannotAcquireOrReleaseALockOfMortise() throws Exception {
        Lease lease = client().named("x").acquire();
        masters.each(redis -> {
            Await.until("the master has voted", SOON, () -> redis.call("GET", "lock:x") != null);
            assertThat((Long) redis.call("PTTL", "lock:x")).isPositive();
        });
        assertThat(foreignAcquire(5, "lock:x", "foreign", 30_000)).isZero();
        assertThat(foreignRelease("lock:x", "foreign")).isZero();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        awaitNoLockKeys();
        assertThat(foreignAcquire(5, "lock:x", "foreign", 30_000)).isEqualTo(5);
        assertThat(foreignRelease("lock:x", "foreign")).isEqualTo(5);
    }

    @Test
    void S13_keyIsPrefixAndEscapedName() throws Exception {
        DistributedLock lock = client().named("order/1 ä%:x");
        String key = keys("order/1 ä%:x").grant();
        try (Lease lease = lock.acquire()) {
            masters.each(redis -> Await.until(
                    "the master has voted", SOON, () -> redis.keys("*").contains(key)));
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(key).isEqualTo("lock:order%2F1%20%C3%A4%25:x");
    }

    @Test
    void S11_expiredForeignLockIsAcquiredSoon() throws Exception {
        DistributedLock lock = client().named("x");
        long start = System.nanoTime(); // before the first foreign vote
        assertThat(foreignAcquire(5, "lock:x", "foreign", 1_000)).isEqualTo(5);
        try (Lease lease = lock.tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(Duration.ofMillis(800), Duration.ofSeconds(4));
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** Other libraries publish no message on release. */
    @Test
    void S11_releasedForeignLockIsAcquiredAtTheNextRetry() throws Exception {
        DistributedLock lock = client().named("x");
        assertThat(foreignAcquire(5, "lock:x", "foreign", 60_000)).isEqualTo(5);
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        masters.each(redis -> Await.until(
                "the waiter is queued",
                SOON,
                () -> Long.valueOf(1).equals(redis.call("ZCARD", keys("x").queue()))));
        assertThat(foreignRelease("lock:x", "foreign")).isEqualTo(5);
        waiting.get(15, TimeUnit.SECONDS).close();
    }
}
