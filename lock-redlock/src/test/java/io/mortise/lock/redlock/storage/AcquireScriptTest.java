// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import static io.mortise.lock.redlock.storage.RedlockScriptBench.KEYS;
import static io.mortise.lock.redlock.storage.RedlockScriptBench.LEASE_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests {@code acquire.lua}, which gives the vote of one master. */
@Tag("once")
class AcquireScriptTest extends RedlockScriptTest {

    private static Object first(List<?> reply) {
        return Objects.requireNonNull(reply.get(0));
    }

    @Test
    void S03_masterInQuarantineDoesNotVote() {
        bench.redis().call("HDEL", RedlockScriptBench.STATE, "run");
        assertThat(bench.tryAcquire(1)).isEqualTo(List.of("quarantined"));
        bench.leaveQuarantine("another run", "0");
        assertThat(bench.tryAcquire(1)).isEqualTo(List.of("quarantined"));
        assertThat(bench.acquire(1, "c")).isEqualTo(List.of("quarantined"));
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
        assertThat(bench.counter()).isEqualTo("null");
    }

    @Test
    void S08_lateRequestIsNotExecuted() {
        List<?> reply = bench.acquire(
                RedlockScriptBench.RUN, 1, bench.micros() - 1, false, RedlockScriptBench.waiting(1, bench.listen("c")));
        assertThat(first(reply)).isEqualTo("late");
        assertThat((Long) reply.get(1)).isBetween(bench.micros() - 10_000_000, bench.micros());
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
        assertThat(bench.counter()).isEqualTo("null");
    }

    @Test
    void S03_freeLockIsGrantedWithNextTokenForItsLease() {
        assertThat(bench.tryAcquire(1)).isEqualTo(List.of(1L));
        assertThat(bench.value()).isEqualTo(RedlockScriptBench.vote(1, 1) + " token=1");
        assertThat(bench.remainingMillis(KEYS.grant())).isBetween(LEASE_MILLIS - 5_000, LEASE_MILLIS);
        bench.release(1);
        assertThat(bench.tryAcquire(2)).isEqualTo(List.of(2L));
        bench.redis().call("DEL", KEYS.grant());
        assertThat(bench.acquire(3, "c")).isEqualTo(List.of(3L));
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }

    @Test
    void uncontendedAcquireRunsFourCommands() {
        bench.redis().resetCommandCalls();
        bench.acquire(2, "some-channel");
        assertThat(bench.redis().commandCalls())
                .containsOnlyKeys("eval", "hmget", "time", "set", "hset")
                .containsEntry("hset", 1L);
    }

    @Test
    void S08_sameAttemptGetsSameVoteAndFullLease() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        assertThat(bench.tryAcquire(1)).isEqualTo(List.of(1L));
        assertThat(bench.remainingMillis(KEYS.grant())).isGreaterThan(50_000);
        bench.raiseToken(1, 17);
        assertThat(bench.acquire(1, "c")).as("with the token raised before").isEqualTo(List.of(17L));
        assertThat(bench.counter()).isEqualTo("17");
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }

    @Test
    void S08_aLaterRoundTakesTheVoteOfAnEarlierOne() {
        bench.tryAcquire(1);
        bench.raiseToken(1, 17);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        assertThat(bench.acquireInRound(3, 1)).isEqualTo(List.of(17L));
        assertThat(bench.value()).isEqualTo(RedlockScriptBench.vote(1, 3) + " token=17");
        assertThat(bench.remainingMillis(KEYS.grant())).isGreaterThan(50_000);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        assertThat(bench.acquireInRound(2, 1)).as("executed late").isEqualTo(List.of(17L));
        assertThat(bench.value()).isEqualTo(RedlockScriptBench.vote(1, 3) + " token=17");
        assertThat(bench.remainingMillis(KEYS.grant())).isLessThanOrEqualTo(5_000);
    }

    @Test
    void heldLockReturnsHolderAndQueuesOnlyWaitingAttempts() {
        bench.tryAcquire(1);
        List<?> reply = bench.tryAcquire(2);
        assertThat(first(reply)).isEqualTo("busy");
        assertThat((Long) reply.get(1)).isBetween(LEASE_MILLIS - 5_000, LEASE_MILLIS);
        assertThat(reply.subList(2, 4)).isEqualTo(List.of(RedlockScriptBench.attempt(1), 0L));
        assertThat((Long) reply.get(4)).isBetween(bench.micros() - 10_000_000, bench.micros());
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
        assertThat(bench.acquire(4, "c").get(3)).isEqualTo(0L);
        assertThat(bench.acquire(5, "c").get(3)).isEqualTo(1L);
        assertThat(bench.acquire(3, "c").get(3))
                .as("its queue position is before theirs")
                .isEqualTo(0L);
        assertThat(bench.acquire(5, "c").get(3)).isEqualTo(2L);
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(3, 4, 5));
        assertThat(bench.redis().call("HLEN", KEYS.entries())).isEqualTo(3L);
        for (String key : List.of(KEYS.queue(), KEYS.entries())) {
            assertThat(bench.remainingMillis(key))
                    .as("later than the last queue entry")
                    .isBetween(
                            RedlockScriptBench.QUEUE_ENTRY_TTL_MILLIS + 1,
                            2 * RedlockScriptBench.QUEUE_ENTRY_TTL_MILLIS);
        }
        assertThat(bench.counter()).as("one vote").isEqualTo("1");
    }

    @Test
    void S11_queueEntryIsDeletedWhenVoteIsGranted() {
        bench.tryAcquire(1);
        bench.acquire(2, "c");
        bench.acquire(3, "c");
        bench.redis().call("DEL", KEYS.grant());
        long notAfter = bench.micros() + 5_000_000;
        assertThat(bench.acquire(RedlockScriptBench.RUN, 3, notAfter, true, RedlockScriptBench.waiting(3, "c")))
                .as("the queue position orders only hints")
                .isEqualTo(List.of(2L));
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(2));
        bench.release(3);
        assertThat(bench.acquire(RedlockScriptBench.RUN, 2, notAfter, true, RedlockScriptBench.waiting(2, "c")))
                .isEqualTo(List.of(3L));
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }

    /** Otherwise operators see the holder among the waiters, and a hint for the first waiter goes to the holder. */
    @Test
    void S11_S18_theNextRoundDeletesTheQueueEntryThatALateRequestLeft() {
        bench.tryAcquire(1);
        bench.acquire(2, "c");
        bench.redis().call("DEL", KEYS.grant());
        bench.acquire(2, "c");
        assertThat(bench.queue()).as("it does not look there").isEqualTo(RedlockScriptBench.attempts(2));
        long notAfter = bench.micros() + 5_000_000;
        assertThat(bench.acquire(RedlockScriptBench.RUN, 2, notAfter, true, RedlockScriptBench.waiting(2, "c")))
                .isEqualTo(List.of(2L));
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }

    @Test
    void S11_wokenContenderThatSendsItsRequestIsNotSkippedLater() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c"));
        bench.wokenLongAgo(2);
        bench.acquire(2, "c");
        assertThat(bench.redis().call("HGET", KEYS.entries(), "wake")).isNull();
    }

    @Test
    void foreignValueIsAHolderWithItsOwnExpiry() {
        bench.redis().call("SET", KEYS.grant(), "not ours", "NX", "PX", "30000");
        List<?> reply = bench.tryAcquire(1);
        assertThat(first(reply)).isEqualTo("busy");
        assertThat((Long) reply.get(1)).isBetween(25_000L, 30_000L);
        assertThat(reply.get(2)).isEqualTo("not ours");
        bench.redis().call("PERSIST", KEYS.grant());
        assertThat(bench.tryAcquire(1).get(1)).as("without expiry").isEqualTo(-1L);
        assertThat(bench.value()).isEqualTo("not ours");
    }

    @Test
    void S14_keyOfForeignTypeIsAnError() {
        bench.redis().call("LPUSH", KEYS.grant(), "a", "list");
        for (Runnable acquire : List.<Runnable>of(() -> bench.tryAcquire(1), () -> bench.acquire(1, "c"))) {
            assertThatThrownBy(acquire::run)
                    .isInstanceOf(RawRedis.ErrorReply.class)
                    .hasMessageStartingWith("WRONGTYPE");
        }
        assertThat(bench.redis().call("LLEN", KEYS.grant())).isEqualTo(2L);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }
}
