// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tests how many requests the masters receive and how many messages they publish in typical scenarios. */
@Tag("once")
class RedlockRequestCountTest extends FiveMastersTest {
    private static final Logger log = LoggerFactory.getLogger(RedlockRequestCountTest.class);
    private static final int CYCLES = 10;
    private static final int CLIENTS = 4;
    private static final int WAITERS = 50;
    private static final int NAMES = 4_000;

    private static long calls(RawRedis redis, String command) {
        return redis.commandCalls().getOrDefault(command, 0L);
    }

    private static void reset() {
        masters.each(RawRedis::resetCommandCalls);
    }

    @Test
    void uncontendedCycleRunsTwoScriptsPerMaster() throws Exception {
        DistributedLock lock = client().named("x");
        Await.until("the masters' counters agree", SOON, () -> {
            lock.acquireAsync().thenCompose(Lease::releaseAsync).join();
            awaitNoLockKeys();
            Set<Object> counters = new HashSet<>();
            masters.each(redis -> counters.add(
                    String.valueOf(redis.call("HGET", KEYS.state(), keys("x").bucket()))));
            return counters.size() == 1;
        });
        reset();
        for (int i = 0; i < CYCLES; i++) {
            lock.acquire().close();
        }
        masters.each(redis -> {
            Await.until("the last requests have arrived", SOON, () -> calls(redis, "evalsha") >= 2 * CYCLES);
            long cycles = CYCLES;
            assertThat(redis.commandCalls())
                    .as("two requests per cycle, and the commands of their scripts")
                    .isEqualTo(Map.of(
                            "evalsha",
                            2 * cycles,
                            "hmget",
                            cycles,
                            "time",
                            cycles,
                            "set",
                            cycles,
                            "hset",
                            cycles,
                            "get",
                            cycles,
                            "del",
                            cycles,
                            "exists",
                            cycles));
        });
    }

    @Test
    void S17_failedTryLeavesNoKeyAndNoQueueEntry() throws Exception {
        Lease held = client().named("x").acquire();
        masters.each(redis ->
                Await.until("all have voted", SOON, () -> redis.keys("*").size() == 2));
        DistributedLock other = client().named("x");
        assertThat(other.tryAcquire()).isEmpty();
        assertThat(other.tryAcquire(Duration.ofSeconds(1))).isEmpty();
        masters.each(redis -> Await.until(
                "the votes of the failed tries are deleted",
                SOON,
                () -> redis.keys("*").equals(List.of(KEYS.state(), keys("x").grant()))));
        held.close();
        for (int foreign = 0; foreign < 3; foreign++) { // a foreign holder has the majority
            raw(foreign, "SET", keys("y").grant(), "foreign", "NX", "PX", "60000");
        }
        assertThat(client().named("y").tryAcquire()).isEmpty();
        for (int foreign = 0; foreign < 3; foreign++) {
            raw(foreign, "DEL", keys("y").grant());
        }
        awaitNoLockKeys();
    }

    private static void raw(int master, String... command) {
        try (RawRedis redis = masters.get(master).connect()) {
            redis.call(command);
        }
    }

    @Test
    void S11_longQueueDrainsWithFewRequestsAndNoPolling() throws Exception {
        LockOptions untilReleased =
                LockOptions.defaults().leaseDuration(Duration.ofSeconds(30)); // no grant expires during the test
        Lease held = client().named("x", untilReleased).acquire();
        // No waiter wins a vote then, which it would yield again.
        masters.each(redis -> Await.until(
                "all have voted", SOON, () -> redis.call("GET", keys("x").grant()) != null));
        List<DistributedLock> locks = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            locks.add(client().named("x"));
        }
        reset();
        long queuedSince = System.nanoTime();
        List<CompletableFuture<?>> cycles = new ArrayList<>();
        for (DistributedLock lock : locks) {
            for (int j = 0; j < WAITERS; j++) {
                cycles.add(lock.acquireAsync().thenCompose(Lease::releaseAsync));
            }
        }
        int contenders = CLIENTS * WAITERS;
        masters.each(redis -> Await.until(
                "all waiters are queued",
                SOON,
                () -> Long.valueOf(contenders)
                        .equals(redis.call("ZCARD", keys("x").queue()))));
        assertThat(masters.sum(redis -> calls(redis, "publish")))
                .as("hints among waiters")
                .isZero();
        reset();
        held.release();
        for (CompletableFuture<?> cycle : cycles) {
            cycle.get(30, TimeUnit.SECONDS);
        }
        awaitNoLockKeys();
        double handOffs = contenders;
        // On a machine that takes longer, each contender may have checked all masters for a dead holder every 5 s.
        long checks = (long) contenders * masters.all().size() * ((System.nanoTime() - queuedSince) / 5_000_000_000L);
        double requests = (masters.sum(RawRedis::scriptCallsExceptRenewals) - checks) / handOffs;
        double messages = masters.most(redis -> calls(redis, "publish")) / handOffs;
        log.info("event=crowd requests_per_hand_off={} messages_per_master={}", requests, messages);
        assertThat(requests).as("requests per hand-off at all masters").isLessThanOrEqualTo(12);
        assertThat(messages)
                .as("messages per hand-off of one master")
                .isLessThanOrEqualTo(1.05); // a master with a late reply is sent the request again
    }

    @Test
    void thousandLocksAreRenewedWithTenRequestsPerMasterAndPeriod() throws Exception {
        LockClient client = client();
        List<Lease> held = new ArrayList<>();
        while (held.size() < 1_000) { // in steps, since a master with a late vote would get no further requests
            List<CompletableFuture<Lease>> acquired = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                acquired.add(client.named("held" + (held.size() + i)).acquireAsync());
            }
            for (CompletableFuture<Lease> one : acquired) {
                held.add(one.get(30, TimeUnit.SECONDS));
            }
        }
        masters.each(redis ->
                Await.until("all have voted", SOON, () -> Long.valueOf(1_001).equals(redis.call("DBSIZE"))));
        reset();
        long start = System.nanoTime();
        masters.each(redis -> Await.until("each was renewed three times", SOON, () -> calls(redis, "get") >= 3_000));
        assertThat(held).allMatch(Lease::isHeld);
        masters.each(redis -> {
            long periods = Duration.ofNanos(System.nanoTime() - start).dividedBy(LEASE.dividedBy(3)) + 1;
            assertThat(calls(redis, "evalsha") + calls(redis, "eval"))
                    .as("requests")
                    .isLessThanOrEqualTo(10 * periods);
        });
        List<CompletableFuture<?>> released = new ArrayList<>();
        held.forEach(one -> released.add(one.releaseAsync()));
        for (CompletableFuture<?> one : released) {
            one.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void S17_lockNamesUsedOnceAreForgottenByClientAndServers() throws Exception {
        AtomicReference<RedlockBackend> backend = new AtomicReference<>();
        LockClient client = BackendClients.open(
                context -> {
                    backend.set(RedlockBackend.open(options(), context));
                    return backend.get();
                },
                LONG_TIMEOUTS);
        closeLater(client);
        int inFlight = 200;
        for (int first = 0; first < NAMES; first += inFlight) {
            CompletableFuture.allOf(IntStream.range(first, first + inFlight)
                            .mapToObj(i -> client.named("once/" + i)
                                    .callAsync(lease -> CompletableFuture.completedFuture(true)))
                            .toArray(CompletableFuture[]::new))
                    .get(60, TimeUnit.SECONDS);
        }
        awaitNoLockKeys();
        masters.each(redis -> assertThat((Long) redis.call("HLEN", KEYS.state()))
                .as("counters and fields of the quarantine state")
                .isLessThanOrEqualTo(RedlockKeys.BUCKETS + 4L));
        assertThat(Objects.requireNonNull(backend.get()).services().contenders().size())
                .isZero();
    }
}
