// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.redlock.grant.GrantTestAccess;
import io.mortise.lock.redlock.master.CleanupBacklogCounter;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the cleanup backlog of a master that replies late stays small. */
@Tag("once")
class SlowMasterTest extends ThreeLinkedMastersTest {
    /** Results of one load period: the number of acquire-release cycles, and the largest cleanup backlog of the last master. */
    private static final class Load {
        int cycles;
        int maxInATimeout;
        int maxPending;
        String last = "";
    }

    private void cycles(Load load, Duration time) throws InterruptedException {
        DistributedLock lock = client().named("x");
        long start = System.nanoTime();
        long windowStart = start;
        int inWindow = 0;
        while (System.nanoTime() - start < time.toNanos()) {
            Lease lease = lock.acquire();
            RedlockVoteSummary.Instance one = lease.unwrap(RedlockVoteSummary.class)
                    .orElseThrow()
                    .masters()
                    .get(2);
            load.last = one.error().orElse(load.last);
            assertThat(lease.release()).isNotEqualTo(ReleaseOutcome.LOST); // unknown after a pause of the machine
            load.cycles++;
            if (System.nanoTime() - windowStart > NODE_TIMEOUT.toNanos()) {
                windowStart = System.nanoTime();
                inWindow = 0;
            }
            load.maxInATimeout = Math.max(load.maxInATimeout, ++inWindow);
            load.maxPending =
                    Math.max(load.maxPending, master(2).cleanupBacklog().size());
            LockSupport.parkNanos(1_000_000); // thousands of cycles would show no more
        }
    }

    /** The master publishes messages all the time, so its connection does not count as dead. */
    @Test
    void S08_laggingMasterGetsNoRequestsUntilItRecovers() throws Exception {
        DistributedLock lock = client().named("x");
        lock.acquire().close();
        ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
        try (RawRedis publisher = raw(2);
                RawRedis redis = raw(2)) {
            String channel = KEYS.channel(context().clientId());
            scheduler.scheduleAtFixedRate(
                    () -> publisher.call("PUBLISH", channel, "nothing"), 0, 100, TimeUnit.MILLISECONDS);
            link(2).delay(NODE_TIMEOUT.multipliedBy(3).dividedBy(5));
            Load first = new Load();
            cycles(first, NODE_TIMEOUT.multipliedBy(3));
            redis.resetCommandCalls();
            Load then = new Load();
            cycles(then, Duration.ofSeconds(3));
            assertThat(redis.commandCalls().getOrDefault("set", 0L))
                    .as("requested votes")
                    .isZero();
            assertThat(then.last).startsWith("it lags: ");
            assertThat(then.maxPending)
                    .as("pending cleanups after %d cycles", first.cycles)
                    .isLessThan(first.cycles);
            assertThat(then.cycles).isGreaterThan(10);
            assertThat(master(2).node().isConnected()).isTrue();

            link(2).delay(Duration.ZERO);
            Await.until(
                    "all cleanups have succeeded",
                    SOON,
                    () -> master(2).cleanupBacklog().size() == 0);
        } finally {
            scheduler.shutdownNow();
        }
        awaitVotesOfAll();
    }

    @Test
    void S08_occasionallyStalledMasterHasASmallBacklog() throws Exception {
        Load load = new Load();
        cycles(load, NODE_TIMEOUT);
        for (int pauses = 0; pauses < 4; pauses++) {
            server(2).pause();
            cycles(load, NODE_TIMEOUT.multipliedBy(2));
            server(2).resume();
            cycles(load, NODE_TIMEOUT.dividedBy(2));
        }
        assertThat(load.maxPending)
                .as("pending cleanups at most, with up to %d cycles per timeout", load.maxInATimeout)
                .isLessThan(CleanupBacklogCounter.MAX_PENDING + 3 * load.maxInATimeout);
        Await.until(
                "all cleanups have succeeded",
                SOON,
                () -> master(2).cleanupBacklog().size() == 0);
        awaitVotesOfAll();
    }

    /** A queue entry outlives a short lease, so its deletion is repeated for longer than that lease. */
    @Test
    void S08_S17_queueEntryAtAMasterThatWasCutOffForLongerThanALeaseIsDeleted() throws Exception {
        Duration lease = NODE_TIMEOUT.multipliedBy(4); // the shortest
        try (Lease held = client().named("x").acquire()) {
            CompletableFuture<Lease> waiting = client().named(
                            "x", LockOptions.defaults().leaseDuration(lease))
                    .acquireAsync();
            Await.until("it is queued at the master", SOON, () -> has(2, X.queue()));
            link(2).blackHole();
            waiting.cancel(false);
            Duration cut = lease.plus(NODE_TIMEOUT.multipliedBy(3)); // a late request is executed within two timeouts
            assertThat(Await.holdsWithin(cut, () -> !has(2, X.queue())))
                    .as("deleted before the link is healed")
                    .isFalse();
            link(2).heal();
            Await.until("the queue entry is deleted", SOON, () -> !has(2, X.queue()));
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** Returns the request of an ended attempt that may have left a vote. */
    private static LockRequest endedRequest(int number) {
        return new Request(
                new LockName("orphan" + number),
                String.format(Locale.ROOT, "%032x", number),
                "",
                LEASE.multipliedBy(10),
                false);
    }

    private static void voteFor(LockRequest request, RawRedis redis) {
        redis.call("SET", KEYS.of(request.name()).grant(), request.attemptId(), "PX", "60000");
    }

    private void startCleanup(int master, LockRequest request) {
        GrantTestAccess.startCleanup(master(master), request, KEYS, context());
    }

    /** Simulates an outage in which masters voted and the replies were lost. */
    @Test
    void S15_orphanOfAnEarlierAttemptIsNotAConflict() throws Exception {
        LockRequest ended = endedRequest(1);
        String name = ended.name().value();
        try {
            for (int master = 0; master < 2; master++) {
                raw(master, "ACL", "SETUSER", "default", "-del");
                try (RawRedis redis = raw(master)) {
                    voteFor(ended, redis);
                }
                startCleanup(master, ended);
                link(master)
                        .delay(Duration.ofMillis(50)); // the request to the third master is sent before these two reply
            }
            assertThatThrownBy(() -> client().named(name).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContainingAll(
                            "no quorum: 1 of 3 masters answered",
                            "the cleanup of an earlier attempt of this client is pending there");
        } finally {
            for (int master = 0; master < 2; master++) {
                link(master).delay(Duration.ZERO);
                raw(master, "ACL", "SETUSER", "default", "+del");
            }
        }
        assertThat(client().named(name).tryAcquire(SOON)).hasValueSatisfying(Lease::close);
    }

    @Test
    void S08_masterWithFullBacklogGetsNoVoteRequests() throws Exception {
        try (RawRedis redis = raw(2)) {
            for (int i = 0; i < CleanupBacklogCounter.MAX_PENDING; i++) {
                voteFor(endedRequest(i), redis);
            }
        }
        server(2).pause();
        try (Lease held = client().named("held").acquire()) {
            for (int i = 0; i < CleanupBacklogCounter.MAX_PENDING; i++) {
                startCleanup(2, endedRequest(i));
            }
            Await.until(
                    "the backlog is full",
                    SOON,
                    () -> master(2).cleanupBacklog().isFull());
            assertThat(master(2).eligibleVoter()).isNull();
            assertThat(held.isHeld()).isTrue();
        }
        server(2).resume();
        Await.until(
                "all cleanups have succeeded",
                SOON,
                () -> master(2).cleanupBacklog().size() == 0);
        awaitVotesOfAll();
    }
}
