// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LockMode;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.BareRedis;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One master that answers too late, or now and then: what is to be taken away there must not pile up. */
@Tag("once")
class SlowMasterTest extends ThreeLinesTest {
    /** Cycles, and the most that was left at the last master meanwhile. */
    private static final class Load {
        int cycles;
        int mostInATimeout;
        int mostLeft;
        String last = "";
    }

    private void cycles(Load load, Duration time) throws InterruptedException {
        DistributedLock lock = client().named("x");
        long start = System.nanoTime();
        long windowStart = start;
        int inWindow = 0;
        while (System.nanoTime() - start < time.toNanos()) {
            Lease lease = lock.acquire();
            RedlockSummary.Instance one =
                    lease.unwrap(RedlockSummary.class).orElseThrow().masters().get(2);
            load.last = one.error().orElse(load.last);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            load.cycles++;
            if (System.nanoTime() - windowStart > NODE_TIMEOUT.toNanos()) {
                windowStart = System.nanoTime();
                inWindow = 0;
            }
            load.mostInATimeout = Math.max(load.mostInATimeout, ++inWindow);
            load.mostLeft = Math.max(load.mostLeft, master(2).leftovers().size());
        }
    }

    /** It talks all the time, so it is not taken for dead. */
    @Test
    void S08_oneThatAnswersTooLateIsNotAskedUntilItIsQuickAgain() throws Exception {
        DistributedLock lock = client().named("x");
        lock.acquire().close();
        ScheduledExecutorService talk = Executors.newSingleThreadScheduledExecutor();
        try (BareRedis talks = bare(2);
                BareRedis redis = bare(2)) {
            String channel = KEYS.channel(context().clientId());
            talk.scheduleAtFixedRate(() -> talks.call("PUBLISH", channel, "nothing"), 0, 100, TimeUnit.MILLISECONDS);
            line(2).delay(NODE_TIMEOUT.multipliedBy(3).dividedBy(5));
            Load first = new Load();
            cycles(first, NODE_TIMEOUT.multipliedBy(3));
            redis.resetCommandCalls();
            Load then = new Load();
            cycles(then, Duration.ofSeconds(3));
            assertThat(redis.commandCalls().getOrDefault("set", 0L))
                    .as("votes asked for")
                    .isZero();
            assertThat(then.last).startsWith("it lags: ");
            assertThat(then.mostLeft)
                    .as("left there after %d cycles", first.cycles)
                    .isLessThan(first.cycles);
            assertThat(then.cycles).isGreaterThan(10);
            assertThat(master(2).node().isConnected()).isTrue();

            line(2).delay(Duration.ZERO);
            Await.until(
                    "nothing is to be taken away",
                    SOON,
                    () -> master(2).leftovers().size() == 0);
        } finally {
            talk.shutdownNow();
        }
        awaitVotesOfAll();
    }

    @Test
    void S08_oneThatStandsStillNowAndThenHasLittleLeft() throws Exception {
        Load load = new Load();
        cycles(load, NODE_TIMEOUT);
        for (int turn = 0; turn < 4; turn++) {
            server(2).pause();
            cycles(load, NODE_TIMEOUT.multipliedBy(2));
            server(2).resume();
            cycles(load, NODE_TIMEOUT.dividedBy(2));
        }
        assertThat(load.mostLeft)
                .as("left at most, with up to %d cycles a timeout", load.mostInATimeout)
                .isLessThan(Leftovers.MOST + 3 * load.mostInATimeout);
        Await.until(
                "nothing is to be taken away", SOON, () -> master(2).leftovers().size() == 0);
        awaitVotesOfAll();
    }

    /** An attempt that is over and may have left its vote at the last master. */
    private static LockRequest over(int number) {
        return new Request(
                new LockName("left" + number),
                LockMode.EXCLUSIVE,
                String.format(Locale.ROOT, "%032x", number),
                "",
                LEASE.multipliedBy(10),
                false);
    }

    private static void voteFor(LockRequest request, BareRedis redis) {
        redis.call("SET", KEYS.of(request.name()).grant(), request.attemptId(), "PX", "60000");
    }

    private Part part(LockRequest request) {
        return part(2, request);
    }

    private Part part(int master, LockRequest request) {
        return new Part(master(master), context(), request, KEYS.of(request.name()));
    }

    /** As after a break in which votes were cast and the answers were lost. */
    @Test
    void S15_aVoteThatAnEarlierAttemptOfOnesOwnLeftIsNotSomebodyElses() throws Exception {
        LockRequest over = over(1);
        String name = over.name().value();
        try {
            for (int master = 0; master < 2; master++) {
                bare(master, "ACL", "SETUSER", "default", "-del");
                try (BareRedis redis = bare(master)) {
                    voteFor(over, redis);
                }
                master(master).leftovers().settle(part(master, over), over, context());
                line(master).delay(Duration.ofMillis(50)); // the third is asked before these two have answered
            }
            assertThatThrownBy(() -> client().named(name).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContainingAll(
                            "no quorum: 1 of 3 masters answered", "what an earlier attempt of this client left there");
        } finally {
            for (int master = 0; master < 2; master++) {
                line(master).delay(Duration.ZERO);
                bare(master, "ACL", "SETUSER", "default", "+del");
            }
        }
        assertThat(client().named(name).tryAcquire(SOON)).hasValueSatisfying(Lease::close);
    }

    @Test
    void S08_whereMuchIsLeftNoVoteIsAskedForUntilItIsGone() throws Exception {
        try (BareRedis redis = bare(2)) {
            for (int i = 0; i < Leftovers.MOST; i++) {
                voteFor(over(i), redis);
            }
        }
        server(2).pause();
        try (Lease held = client().named("held").acquire()) {
            for (int i = 0; i < Leftovers.MOST; i++) {
                master(2).leftovers().settle(part(over(i)), over(i), context());
            }
            Await.until("it lags", SOON, () -> master(2).leftovers().tooMany());
            assertThat(master(2).electable()).isNull();
            assertThat(held.isHeld()).isTrue();
        }
        server(2).resume();
        Await.until("all is taken away", SOON, () -> master(2).leftovers().size() == 0);
        awaitVotesOfAll();
    }

    @Test
    void S08_aVoteThatComesAfterTheFirstWasTakenAwayIsTakenAwayToo() {
        LockRequest request = over(1);
        Part part = part(request);
        String key = KEYS.of(request.name()).grant();
        try (BareRedis redis = bare(2)) {
            for (int time = 0; time < 3; time++) {
                voteFor(request, redis);
                master(2).leftovers().settle(part, request, context());
                Await.until("it is gone", SOON, () -> !has(2, key));
                Await.until("that is known", SOON, () -> part.beginSettling());
                part.endSettling();
            }
        }
    }
}
