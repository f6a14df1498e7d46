// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestEnsemble;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tests that a lock has only one holder if the leader is cut off together with the holders' clients.
 *
 * <p>The cut-off leader keeps serving the holders until it steps down, while the other servers elect a new leader and grant the
 * locks to the next waiters. All clients share one monotonic clock. {@code -Dmortise.partitions=30} runs more partitions than a
 * regular run has time for.
 *
 * <p>The other servers are always ahead of the old leader by seconds if they were restarted, and otherwise only sometimes. Let
 * p be the last ping of the leader that reached them. They start an election one sync limit later, which takes e, about 0.3 s.
 * They end the holders' sessions, of timeout T, another T later, rounded up by some u to a whole tick. The old leader checks
 * once a tick, so it steps down a sync limit and a tick after p if p was sent at the beginning of a tick, and half a tick
 * earlier otherwise. If a holder's last reply proved ¾ T, its lease would overlap with the next one for a tick - T/4 - e - u.
 * Such an overlap needs a cut in the first half of a tick, ticks that are long compared with e, sessions of little more than
 * the two ticks that servers allow, some of them with a small u, and a late renewal.
 */
@Tag("once")
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES) // for many partitions; a regular run takes less than a minute
@Execution(ExecutionMode.CONCURRENT) // the tests wait most of the time
class ZooKeeperCutOffLeaderTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperCutOffLeaderTest.class);
    private static final int PARTITIONS = Integer.getInteger("mortise.partitions", 1);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LONG_TICK = Duration.ofSeconds(3);

    /**
     * The hand-over of one lock from a holder on the side of the cut-off leader to the next waiter.
     *
     * @param stillHeld whether the first holder considered its lease valid at the time of the next grant
     */
    private record Handover(Lease holder, CompletableFuture<Lease> next, CompletableFuture<Boolean> stillHeld) {
        CompletableFuture<?> lost() {
            return holder.lost();
        }

        /**
         * Returns whether both leases are held. The next lease is checked last: if it is held then, it was also held when the
         * first lease was checked.
         */
        boolean overlaps() {
            return next.isDone() && holder.isHeld() && next.join().isHeld();
        }
    }

    @Test
    void S01_S07_noOverlapIfTheLeaderIsCutOff() {
        Random random = new Random(17);
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start(LONG_TICK, LONG_TICK)) {
            new Partitions("cut", ensemble, LONG_TICK, 12) {
                @Override
                long cutTime(int round) {
                    return System.nanoTime() + random.nextLong(LONG_TICK.toNanos());
                }
            }.run();
        }
    }

    @Test
    void S01_S07_noOverlapIfTheLeaderIsCutOffAndItsFollowersAreRestarted() {
        Duration tick = ZooKeeperTestEnsemble.TICK;
        Random random = new Random(18);
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start()) {
            new Partitions("followers restarted", ensemble, tick.multipliedBy(2), 4) {
                @Override
                long cutTime(int round) {
                    return System.nanoTime() + random.nextLong(2 * tick.toNanos());
                }

                @Override
                void afterCut() {
                    others.forEach(ensemble::kill);
                    others.forEach(ensemble::restart);
                }
            }.run();
        }
    }

    /**
     * The times of the cuts are spread over the first half of a tick of the leader. Each round has a new leader, so that the
     * time of its ticks is known.
     */
    @Test
    void S01_S07_noOverlapIfTheLeaderIsCutOffAtTheBeginningOfATick() {
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start(LONG_TICK, LONG_TICK)) {
            new Partitions("aligned to the tick", ensemble, LONG_TICK, 12) {
                private long leaderSince;

                @Override
                void before() {
                    int old = ensemble.leader();
                    ensemble.kill(old);
                    ensemble.leader();
                    leaderSince = System.nanoTime(); // the leader counts its ticks from here
                    ensemble.restart(old);
                    ensemble.awaitServing(LIMIT);
                }

                @Override
                long cutTime(int round) {
                    long tick = LONG_TICK.toNanos();
                    long ticks = (System.nanoTime() - leaderSince) / tick + 1;
                    return leaderSince + ticks * tick + (2 * round + 1) * tick / (4L * PARTITIONS);
                }
            }.run();
        }
    }

    /** Partitions of one kind on one ensemble. */
    private abstract static class Partitions {
        private final String kind;
        private final ZooKeeperTestEnsemble ensemble;
        private final Duration tick;
        private final int holders;

        /** The servers other than the leader. */
        List<Integer> others = List.of();

        private final List<Long> overlaps = new ArrayList<>();
        private int heldAtCut;
        private int stillHeldAtGrant;

        Partitions(String kind, ZooKeeperTestEnsemble ensemble, Duration tick, int holders) {
            this.kind = kind;
            this.ensemble = ensemble;
            this.tick = tick;
            this.holders = holders;
        }

        void before() {}

        /** Returns the time of the cut. Called when all locks are held and have a waiter. */
        abstract long cutTime(int round);

        void afterCut() {}

        final void run() {
            for (int round = 0; round < PARTITIONS; round++) {
                before();
                List<LockClient> clients = new ArrayList<>();
                try {
                    partition(round, clients);
                } finally {
                    ensemble.heal();
                    clients.forEach(LockClient::close);
                }
                ensemble.awaitServing(LIMIT);
            }
            assertThat(heldAtCut).as("leases held at the cuts").isGreaterThan(PARTITIONS * holders / 2);
            assertThat(stillHeldAtGrant)
                    .as("grants while the previous lease was still held")
                    .isZero();
            assertThat(overlaps).as("time with two holders").containsOnly(0L);
        }

        private void partition(int round, List<LockClient> clients) {
            int leader = ensemble.leader();
            others = IntStream.range(0, ZooKeeperTestEnsemble.SIZE)
                    .filter(node -> node != leader)
                    .boxed()
                    .toList();
            List<Handover> locks = handovers(leader, kind + " " + round, clients);
            long cut = cutTime(round);
            while (System.nanoTime() < cut) {
                LockSupport.parkNanos(cut - System.nanoTime());
            }
            long start = System.nanoTime();
            ensemble.isolate(leader);
            heldAtCut +=
                    (int) locks.stream().filter(lock -> lock.holder.isHeld()).count();
            afterCut();
            overlaps.add(longestOverlap(locks));
            int stillHeld =
                    (int) locks.stream().filter(lock -> lock.stillHeld.join()).count();
            stillHeldAtGrant += stillHeld;
            log.info(
                    "event=figures kind=\"{}\" round={} overlap_ms={} still_held={} over_ms={}",
                    kind,
                    round,
                    overlaps.get(round) / 1_000_000,
                    stillHeld,
                    (System.nanoTime() - start) / 1_000_000);
            Await.until(
                    "all holders are notified",
                    LIMIT,
                    () -> locks.stream().allMatch(lock -> lock.lost().isDone()));
        }

        /**
         * Acquires all locks. The holders' sessions have timeouts of two to two and a half ticks, and renew at different times.
         */
        private List<Handover> handovers(int leader, String prefix, List<LockClient> clients) {
            LockClient next = ZooKeeperLocks.connect(
                    ZooKeeperTestSupport.options(
                            ensemble.connectString(others.get(0)) + "," + ensemble.connectString(others.get(1)),
                            tick.multipliedBy(10)),
                    ClientOptions.defaults().unavailableAfter(LIMIT));
            clients.add(next);
            List<Handover> handovers = new ArrayList<>();
            for (int i = 0; i < holders; i++) {
                Duration session =
                        tick.multipliedBy(2).plus(tick.multipliedBy(i).dividedBy(2L * holders));
                LockClient holder = ZooKeeperTestSupport.connectClient(ensemble.connectString(leader), session);
                clients.add(holder);
                String name = prefix + " " + i;
                Lease lease = holder.named(name).acquireAsync().join();
                CompletableFuture<Lease> waiter = next.named(name).acquireAsync();
                handovers.add(new Handover(lease, waiter, waiter.thenApply(got -> lease.isHeld() && got.isHeld())));
            }
            for (int i = 0; i < holders; i++) {
                ZooKeeperTestSupport.awaitWaiters(next, prefix + " " + i, 1);
            }
            return handovers;
        }
    }

    /** Waits until all locks are handed over, and returns a lower bound of the longest overlap in nanoseconds. */
    private static long longestOverlap(List<Handover> locks) {
        long[] since = new long[locks.size()];
        long[] longest = {0};
        Await.until("all locks are granted to the next waiters, and lost by the first holders", LIMIT, () -> {
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
