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
 * The leader is cut off together with the holders' clients: it serves them on until it steps down, while the others elect
 * anew and give the locks away. One monotonic clock for all. {@code -Dmortise.partitions=30} for more than a regular run has
 * time for.
 *
 * <p>Restarted followers are ahead of the leader by seconds. Others only now and then. Let p be the last ping of the leader
 * that reached them. They elect a sync limit later, which takes e, some 0.3 s, and end the sessions of the holders, of timeout
 * T, after T more, rounded up by some u to a whole tick. The leader checks once a tick, so it steps down a sync limit and a tick
 * after p if p was sent as a tick began, and half a tick earlier otherwise. A holder that took its last answer for a proof of
 * ¾ T would hold the lock together with the next one for a tick - T/4 - e - u. That needs a cut in the first half of a tick, ticks that are long against e, sessions
 * of little more than the two ticks that servers allow, some of which have a small u, and a renewal that comes late.
 */
@Tag("once")
@Timeout(value = 20, unit = TimeUnit.MINUTES) // for many partitions; a regular run takes less than a minute for all
@Execution(ExecutionMode.CONCURRENT) // they wait for most of the time
class ZooKeeperCutOffLeaderTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperCutOffLeaderTest.class);
    private static final int PARTITIONS = Integer.getInteger("mortise.partitions", 1);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LONG_TICK = Duration.ofSeconds(3);

    /** What became of one lock: its holder beside the cut-off leader, and the next one. */
    private record Handover(Lease holder, CompletableFuture<Lease> next, CompletableFuture<Boolean> stillHeld) {
        CompletableFuture<?> lost() {
            return holder.lost();
        }

        /** Asks in this order: a second answer that is true has been true since before the first question. */
        boolean overlaps() {
            return next.isDone() && holder.isHeld() && next.join().isHeld();
        }
    }

    @Test
    void S01_S07_theLeaderIsCutOff() {
        Random random = new Random(17);
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start(LONG_TICK, LONG_TICK)) {
            new Partitions("cut", ensemble, LONG_TICK, 12) {
                @Override
                long cutAfter(int round) {
                    return System.nanoTime() + random.nextLong(LONG_TICK.toNanos());
                }
            }.run();
        }
    }

    @Test
    void S01_S07_theLeaderIsCutOffAndItsFollowersAreRestarted() {
        Duration tick = ZooKeeperTestEnsemble.TICK;
        Random random = new Random(18);
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start()) {
            new Partitions("followers restarted", ensemble, tick.multipliedBy(2), 4) {
                @Override
                long cutAfter(int round) {
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

    /** The instants of the cuts go through the first half of a tick of the leader, which therefore is a new one each time. */
    @Test
    void S01_S07_theLeaderIsCutOffAtTheBeginningOfATick() {
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start(LONG_TICK, LONG_TICK)) {
            new Partitions("aligned to the tick", ensemble, LONG_TICK, 12) {
                private long leads;

                @Override
                void before() {
                    int old = ensemble.leader();
                    ensemble.kill(old);
                    ensemble.leader();
                    leads = System.nanoTime(); // and counts its ticks from here
                    ensemble.restart(old);
                    ensemble.awaitServing(LIMIT);
                }

                @Override
                long cutAfter(int round) {
                    long tick = LONG_TICK.toNanos();
                    long ticks = (System.nanoTime() - leads) / tick + 1;
                    return leads + ticks * tick + (2 * round + 1) * tick / (4L * PARTITIONS);
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

        /** All but the leader. */
        List<Integer> others = List.of();

        private final List<Long> overlaps = new ArrayList<>();
        private int believers;
        private int stillHeld;

        Partitions(String kind, ZooKeeperTestEnsemble ensemble, Duration tick, int holders) {
            this.kind = kind;
            this.ensemble = ensemble;
            this.tick = tick;
            this.holders = holders;
        }

        void before() {}

        /** The instant of the cut, the locks being held and waited for. */
        abstract long cutAfter(int round);

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
            assertThat(believers).as("holders at the cuts").isGreaterThan(PARTITIONS * holders / 2);
            assertThat(stillHeld).as("grants while the one before was believed").isZero();
            assertThat(overlaps).as("time with two holders").containsOnly(0L);
        }

        private void partition(int round, List<LockClient> clients) {
            int leader = ensemble.leader();
            others = IntStream.range(0, ZooKeeperTestEnsemble.SIZE)
                    .filter(node -> node != leader)
                    .boxed()
                    .toList();
            List<Handover> locks = handovers(leader, kind + " " + round, clients);
            long cut = cutAfter(round);
            while (System.nanoTime() < cut) {
                LockSupport.parkNanos(cut - System.nanoTime());
            }
            long start = System.nanoTime();
            ensemble.isolate(leader);
            believers +=
                    (int) locks.stream().filter(lock -> lock.holder.isHeld()).count();
            afterCut();
            overlaps.add(watch(locks));
            int believed =
                    (int) locks.stream().filter(lock -> lock.stillHeld.join()).count();
            stillHeld += believed;
            log.info(
                    "event=figures kind=\"{}\" round={} overlap_ms={} still_held={} over_ms={}",
                    kind,
                    round,
                    overlaps.get(round) / 1_000_000,
                    believed,
                    (System.nanoTime() - start) / 1_000_000);
            Await.until(
                    "all holders are notified",
                    LIMIT,
                    () -> locks.stream().allMatch(lock -> lock.lost().isDone()));
        }

        /** The holders' sessions have timeouts of two ticks to two and a half, and each renews at another time. */
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
