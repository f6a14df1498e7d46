// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.ZooKeeperTestEnsemble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leader is cut off together with the holders' clients: it serves them on until it steps down, while the others elect
 * anew and give the locks away. One monotonic clock for all. {@code -Dmortise.partitions=30} for more than a regular run has
 * time for.
 */
@Tag("once")
@Timeout(value = 15, unit = TimeUnit.MINUTES) // for many partitions; a regular run takes a minute for all
class ZooKeeperCutOffLeaderTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperCutOffLeaderTest.class);
    private static final int PARTITIONS = Integer.getInteger("mortise.partitions", 2);
    private static final int HOLDERS = 4;
    private static final Duration SESSION = Duration.ofSeconds(2);
    private static final Duration SOON_AGAIN = ZooKeeperTestEnsemble.TICK.multipliedBy(3);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** What became of one lock: its holder beside the cut-off leader, and the next one. */
    private record Handover(Lease holder, CompletableFuture<Lease> next, CompletableFuture<Boolean> believedOn) {
        CompletableFuture<?> lost() {
            return holder.lost().toCompletableFuture();
        }

        /** Asked in this order: who answers true second has held since before the first one was asked. */
        boolean overlaps() {
            return next.isDone() && holder.isHeld() && next.join().isHeld();
        }
    }

    @Test
    void S01_S07_theLeaderIsCutOff() {
        Random random = new Random(17);
        partitions("cut", SOON_AGAIN, false, round -> random.nextLong(SESSION.toNanos()));
    }

    @Test
    void S01_S07_theLeaderIsCutOffAndItsFollowersAreRestarted() {
        Random random = new Random(18);
        partitions(
                "followers restarted",
                ZooKeeperTestEnsemble.DEFAULT_SYNC_LIMIT,
                true,
                round -> random.nextLong(SESSION.toNanos()));
    }

    /** When a leader steps down is a matter of its ticks: the instants of the cuts go through a whole one. */
    @Test
    void S01_S07_theLeaderIsCutOffAtAllTimesOfATick() {
        long tick = ZooKeeperTestEnsemble.TICK.toNanos();
        long[] first = {0};
        partitions("aligned to the tick", SOON_AGAIN, false, round -> {
            long now = System.nanoTime();
            first[0] = round == 0 ? now : first[0];
            long phase = round * tick / PARTITIONS;
            return SESSION.toNanos() / 2 + Math.floorMod(first[0] + phase - now, tick);
        });
    }

    private static void partitions(String kind, Duration syncLimit, boolean restart, IntToLongFunction pause) {
        List<Long> overlaps = new ArrayList<>();
        int believers = 0;
        int believedOn = 0;
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start(syncLimit)) {
            for (int round = 0; round < PARTITIONS; round++) {
                int leader = ensemble.leader();
                List<Integer> others = IntStream.range(0, ZooKeeperTestEnsemble.SIZE)
                        .filter(node -> node != leader)
                        .boxed()
                        .toList();
                List<LockClient> clients = new ArrayList<>();
                try {
                    List<Handover> locks = handovers(ensemble, leader, others, kind + " " + round, clients);
                    LockSupport.parkNanos(pause.applyAsLong(round));
                    long start = System.nanoTime();
                    ensemble.isolate(leader);
                    believers += (int)
                            locks.stream().filter(lock -> lock.holder.isHeld()).count();
                    if (restart) {
                        others.forEach(ensemble::kill);
                        others.forEach(ensemble::restart);
                    }
                    overlaps.add(watch(locks));
                    log.info(
                            "event=figures kind=\"{}\" round={} overlap_ms={} over_ms={}",
                            kind,
                            round,
                            overlaps.get(round) / 1_000_000,
                            (System.nanoTime() - start) / 1_000_000);
                    believedOn += (int) locks.stream()
                            .filter(lock -> lock.believedOn.join())
                            .count();
                    Await.until(
                            "all holders are told",
                            LIMIT,
                            () -> locks.stream().allMatch(lock -> lock.lost().isDone()));
                } finally {
                    ensemble.heal();
                    clients.forEach(LockClient::close);
                }
                ensemble.awaitServing(LIMIT);
            }
        }
        assertThat(believers).as("holders at the cuts").isGreaterThan(PARTITIONS * HOLDERS / 2);
        assertThat(believedOn).as("grants while the one before was believed").isZero();
        assertThat(overlaps).as("time with two holders").containsOnly(0L);
    }

    private static List<Handover> handovers(
            ZooKeeperTestEnsemble ensemble, int leader, List<Integer> others, String prefix, List<LockClient> clients) {
        LockClient next = ZooKeeperLocks.connect(
                ZkTests.options(
                        ensemble.connectString(others.get(0)) + "," + ensemble.connectString(others.get(1)),
                        SESSION.multipliedBy(10)),
                ClientOptions.defaults().unavailableAfter(LIMIT));
        clients.add(next);
        List<Handover> handovers = new ArrayList<>();
        for (int i = 0; i < HOLDERS; i++) { // each at another time between two renewals
            LockClient holder = ZkTests.client(ensemble.connectString(leader), SESSION);
            clients.add(holder);
            String name = prefix + " " + i;
            Lease lease = holder.named(name).acquireAsync().join();
            CompletableFuture<Lease> waiter = next.named(name).acquireAsync();
            handovers.add(new Handover(lease, waiter, waiter.thenApply(got -> lease.isHeld() && got.isHeld())));
            ZkTests.awaitWaiters(next, name, 1);
        }
        return handovers;
    }

    /** Until all are handed over: how long the longest overlap was at least, in nanoseconds. */
    private static long watch(List<Handover> locks) {
        long[] since = new long[locks.size()];
        long[] longest = {0};
        Await.until("all are granted to the next one, and given up by the first", LIMIT, () -> {
            boolean done = true;
            for (int i = 0; i < since.length; i++) {
                Handover lock = locks.get(i);
                long now = System.nanoTime();
                if (lock.overlaps()) {
                    since[i] = since[i] == 0 ? now : since[i];
                    longest[0] = Math.max(longest[0], now - since[i] + 1);
                }
                done &= lock.next.isDone() && !lock.holder.isHeld();
            }
            return done;
        });
        return longest[0];
    }
}
