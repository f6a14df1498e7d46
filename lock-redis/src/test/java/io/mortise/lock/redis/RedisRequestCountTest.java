// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how many requests and messages are sent, as counted by the server. */
@Tag("once")
class RedisRequestCountTest extends OneServerTest {
    private static final int CLIENTS = 10;
    private static final int WAITERS = 20;
    private static final int NAMES = 4_000;

    private final List<LockClient> clients = new ArrayList<>();

    @AfterEach
    void assertNoOrphans() {
        clients.forEach(LockClient::close);
        assertThat(redis.keys("*")).isSubsetOf("lock:%token");
    }

    private LockClient client() {
        LockClient client = RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
        clients.add(client);
        return client;
    }

    @Test
    void uncontendedCycleIsTwoRequestsAndNoMessage() throws Exception {
        DistributedLock lock = client().named("x");
        lock.acquire().close(); // so that the server knows the scripts
        redis.resetCommandCalls();
        lock.acquire().close();
        assertThat(redis.commandCalls())
                .as("two requests; the others are commands inside the scripts")
                .isEqualTo(
                        Map.of("evalsha", 2L, "time", 1L, "exists", 2L, "getset", 1L, "set", 1L, "get", 1L, "del", 1L));
    }

    @Test
    void S11_eachHandOffTakesOneRequestAndOneMessageAndNoWaiterPolls() throws Exception {
        Lease held = client().named("x").acquire();
        List<DistributedLock> locks = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            locks.add(client().named("x"));
        }
        long queuedAt = System.nanoTime();
        List<CompletableFuture<?>> cycles = new ArrayList<>();
        for (DistributedLock lock : locks) {
            for (int j = 0; j < WAITERS; j++) {
                cycles.add(lock.acquireAsync().thenCompose(Lease::releaseAsync));
            }
        }
        int crowd = CLIENTS * WAITERS;
        Await.until("all are queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == crowd);
        redis.resetCommandCalls();
        long start = System.nanoTime();
        Await.until("two seconds have passed", RedisTests.SOON, () -> System.nanoTime() - start > 2_000_000_000L);
        // On a slow machine, each waiter may have checked for a dead holder, every 5 s, both now and at the end.
        assertThat(redis.scriptCallsExceptRenewals())
                .as("requests while nothing happens")
                .isLessThanOrEqualTo(checks(crowd, queuedAt));
        held.release();
        for (CompletableFuture<?> cycle : cycles) {
            cycle.get(30, TimeUnit.SECONDS);
        }
        double handOffs = crowd;
        assertThat((redis.scriptCallsExceptRenewals() - checks(crowd, queuedAt)) / handOffs)
                .as("requests per hand-off")
                .isLessThanOrEqualTo(1.2);
        assertThat(redis.commandCalls().getOrDefault("publish", 0L) / handOffs)
                .as("messages per hand-off")
                .isLessThanOrEqualTo(1.0);
    }

    private static long checks(int crowd, long queuedAt) {
        return crowd * ((System.nanoTime() - queuedAt) / 5_000_000_000L);
    }

    @Test
    void eachClientHasOneConnectionAndOneSubscription() throws Exception {
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        LockClient one = client();
        LockClient two = client();
        for (int i = 0; i < 50; i++) {
            held.add(one.named("lock" + i).acquire());
            waiting.add(two.named("lock" + i).acquireAsync());
        }
        Await.until("the last waits", RedisTests.SOON, () -> RedisTests.waiters(redis, "lock49") == 1);
        assertThat((List<?>) redis.call("PUBSUB", "CHANNELS")).hasSize(2);
        assertThat(redis.call("PUBSUB", "NUMPAT")).isEqualTo(0L);
        assertThat(redis.info("clients").get("connected_clients"))
                .as("two clients and this connection")
                .isEqualTo("3");
        held.forEach(Lease::close);
        for (CompletableFuture<Lease> lease : waiting) {
            lease.get(10, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void aThousandHeldLocksAreRenewedByTenRequestsAPeriodAtMost() throws Exception {
        Duration lease = Duration.ofSeconds(6);
        LockClient client = client();
        List<CompletableFuture<Lease>> acquired = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            acquired.add(client.named("held" + i, LockOptions.defaults().leaseDuration(lease))
                    .acquireAsync());
        }
        List<Lease> held = new ArrayList<>();
        for (CompletableFuture<Lease> one : acquired) {
            held.add(one.get(30, TimeUnit.SECONDS));
        }
        redis.resetCommandCalls();
        long start = System.nanoTime();
        Await.until(
                "each was renewed three times",
                RedisTests.SOON,
                () -> redis.commandCalls().getOrDefault("getrange", 0L) >= 3_000);
        assertThat(held).allMatch(Lease::isHeld);
        Map<String, Long> calls = redis.commandCalls();
        long periods = Duration.ofNanos(System.nanoTime() - start).dividedBy(lease.dividedBy(3)) + 1;
        assertThat(calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L))
                .as("requests")
                .isLessThanOrEqualTo(10 * periods);
        List<CompletableFuture<?>> released = new ArrayList<>();
        held.forEach(one -> released.add(one.releaseAsync()));
        for (CompletableFuture<?> one : released) {
            one.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void S17_namesUsedOnceLeaveNothingInClientOrServer() throws Exception {
        AtomicReference<RedisBackend> backend = new AtomicReference<>();
        LockClient client = BackendClients.open(
                context -> {
                    backend.set(RedisBackend.open(options(), context));
                    return backend.get();
                },
                RedisTests.LONG_TIMEOUTS);
        clients.add(client);
        int inFlight = 500;
        for (int first = 0; first < NAMES; first += inFlight) {
            CompletableFuture.allOf(IntStream.range(first, first + inFlight)
                            .mapToObj(i -> client.named("once/" + i)
                                    .callAsync(lease -> CompletableFuture.completedFuture(true)))
                            .toArray(CompletableFuture[]::new))
                    .get(60, TimeUnit.SECONDS);
        }
        assertThat(redis.call("DBSIZE")).isEqualTo(1L);
        assertThat(Objects.requireNonNull(backend.get()).contenders().size()).isZero();
    }
}
