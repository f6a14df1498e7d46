// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.redis.RedisLocks;
import io.mortise.lock.redis.RedisOptions;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.testkit.process.Await;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that {@code redis://} and {@code redlock://} can use one server under the same prefix. */
@Tag("once")
class RedlockSharedPrefixTest extends ThreeLinkedMastersTest {
    private static final String REDIS_QUEUE = "lock:%queue:x";

    @Test
    void S12_S13_backendsDoNotHandLocksToWaitersOfEachOther() throws Exception {
        try (LockClient redis = RedisLocks.connect(
                RedisOptions.connectTo(RedisURI.create(server(0).url())), FiveMastersTest.LONG_TIMEOUTS)) {
            Lease onOne = redis.named("x").acquire();
            Lease onMajority = client().named("x").acquire();
            CompletableFuture<Lease> redlockWaiter = client().named("x").acquireAsync();
            Await.until("the Redlock waiter is queued", SOON, () -> has(0, X.queue()));
            CompletableFuture<Lease> redisWaiter = redis.named("x").acquireAsync();
            Await.until("the Redis waiter is queued", SOON, () -> has(0, REDIS_QUEUE));
            onOne.release();
            Lease next = redisWaiter.get(10, TimeUnit.SECONDS);
            assertThat(has(0, X.queue())).as("still in its own queue").isTrue();
            assertThat(redlockWaiter).isNotDone();
            onMajority.release();
            redlockWaiter.get(10, TimeUnit.SECONDS).close();
            assertThat(next.isHeld()).isTrue();
            next.close();
        }
        try (RawRedis master = raw(0)) {
            master.call("DEL", "lock:%token");
        }
    }
}
