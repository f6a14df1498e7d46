// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import static io.mortise.lock.redlock.storage.RedlockScriptBench.KEYS;
import static io.mortise.lock.redlock.storage.RedlockScriptBench.LEASE_MILLIS;
import static io.mortise.lock.redlock.storage.RedlockScriptBench.hint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the Lua scripts that yield, renew and recover a vote or raise its token.
 *
 * <p>Also tests which scripts still work on a master that is out of memory.
 */
@Tag("once")
class VoteScriptsTest extends RedlockScriptTest {
    private static final List<Long> YES = List.of(1L);
    private static final List<Long> NO = List.of(0L);

    @Test
    void S03_raiseTokenStoresTokenOfTheMajority() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "9000");
        assertThat(bench.raiseToken(1, 1_700_000_000_123_456L)).isEqualTo(YES);
        assertThat(bench.counter()).isEqualTo("1700000000123456");
        assertThat(bench.value()).isEqualTo(RedlockScriptBench.vote(1, 1) + " token=1700000000123456");
        assertThat(bench.remainingMillis(KEYS.grant()))
                .as("no longer than before")
                .isBetween(4_000L, 9_000L);
        bench.release(1);
        assertThat(bench.tryAcquire(2)).isEqualTo(List.of(1_700_000_000_123_457L));
    }

    @Test
    void S03_counterIsNeverLowered() {
        bench.tryAcquire(1);
        bench.redis().call("HSET", RedlockScriptBench.STATE, KEYS.bucket(), "50");
        assertThat(bench.raiseToken(1, 7)).isEqualTo(YES);
        assertThat(bench.counter()).isEqualTo("50");
        assertThat(bench.value()).endsWith(" token=7");
    }

    @Test
    void S03_raiseTokenReplacesOnlyTheToken() {
        String record = RedlockScriptBench.record(1) + " owner=a%1 token=5 b round=1";
        bench.redis().call("SET", KEYS.grant(), record + " token=1", "PX", "9000");
        assertThat(bench.raiseToken(1, 12)).isEqualTo(YES);
        assertThat(bench.value()).isEqualTo(record + " token=12");
    }

    @Test
    void S03_raiseTokenIgnoresVotesOfOthers() {
        assertThat(bench.raiseToken(1, 7)).as("missing").isEqualTo(NO);
        bench.tryAcquire(2);
        String value = bench.value();
        assertThat(bench.raiseToken(1, 7)).as("vote of another attempt").isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        assertThat(bench.counter()).isEqualTo("1");
        bench.redis().call("DEL", KEYS.grant());
        bench.redis().call("LPUSH", KEYS.grant(), "a", "list");
        assertThat(bench.raiseToken(1, 7)).as("not a string").isEqualTo(NO);
        bench.redis().call("DEL", KEYS.grant());
        bench.tryAcquire(1);
        bench.redis().call("HDEL", RedlockScriptBench.STATE, "run");
        assertThat(bench.raiseToken(1, 7)).isEqualTo(List.of("quarantined"));
        assertThat(bench.counter()).isEqualTo("2");
    }

    @Test
    void S10_yieldVoteKeepsQueueEntryAndWakesNoContender() {
        bench.tryAcquire(9);
        bench.acquire(3, bench.listen("c3"));
        bench.redis().call("DEL", KEYS.grant());
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.published(() -> assertThat(bench.yieldVote(2, "c2")).isEqualTo(YES)))
                .isEmpty();
        assertThat(bench.value()).isEqualTo("null");
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(2, 3));
        bench.tryAcquire(9);
        assertThat(bench.published(() -> bench.release(9))).containsExactly(hint("c2", 2));
    }

    @Test
    void S17_yieldVoteOfNonWaitingAttemptLeavesNothing() {
        bench.tryAcquire(1);
        assertThat(bench.yieldVote(1)).isEqualTo(YES);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
    }

    @Test
    void S05_yieldVoteIgnoresVotesOfOthers() {
        bench.tryAcquire(1);
        String value = bench.value();
        assertThat(bench.yieldVote(2, "c2")).isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        bench.redis().call("DEL", KEYS.grant());
        bench.redis().call("LPUSH", KEYS.grant(), "a", "list");
        assertThat(bench.yieldVote(2, "c2")).isEqualTo(NO);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }

    /** Requests of a lost round may be executed late. */
    @Test
    void S05_yieldVoteIgnoresVotesOfOtherRounds() {
        bench.acquireInRound(2, 1);
        String value = bench.value();
        assertThat(bench.yieldRound(1, 1, false)).isEqualTo(NO);
        assertThat(bench.yieldRound(3, 1, false)).isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        assertThat(bench.yieldRound(2, 1, false)).isEqualTo(YES);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
    }

    /** Others have seen a majority, and wait until they are woken. */
    @Test
    void S11_aRoundThatHadAMajorityWakesTheHeadOfTheQueue() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.published(
                        () -> assertThat(bench.yieldRound(1, 1, true)).isEqualTo(YES)))
                .containsExactly(hint("c2", 2));
        assertThat(bench.published(
                        () -> assertThat(bench.yieldRound(1, 1, true)).isEqualTo(NO)))
                .isEmpty();
    }

    @Test
    void S03_onlyTheRoundOfTheVoteStoresAToken() {
        bench.acquireInRound(2, 1);
        assertThat(bench.raiseToken(1, 7)).isEqualTo(NO);
        assertThat(bench.counter()).isEqualTo("1");
    }

    /** A late request may delete the vote of a lost round. */
    @Test
    void S02_aVoteOfAnotherRoundIsNotRenewed() {
        bench.acquireInRound(2, 1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        assertThat(renew(RedlockScriptBench.RUN).get(0)).isEqualTo(0L);
        assertThat(bench.remainingMillis(KEYS.grant())).isLessThanOrEqualTo(5_000);
    }

    private static List<?> renew(String run) {
        List<String> keys =
                List.of(RedlockScriptBench.STATE, KEYS.grant(), "lock:missing", "lock:foreign", "lock:list");
        String lease = String.valueOf(LEASE_MILLIS);
        String[] args = {
            run,
            RedlockScriptBench.attempt(1),
            "1",
            lease,
            RedlockScriptBench.attempt(2),
            "1",
            lease,
            RedlockScriptBench.attempt(3),
            "1",
            lease,
            RedlockScriptBench.attempt(4),
            "1",
            lease
        };
        return bench.eval(RedlockScript.RENEW.script().text(), keys, args);
    }

    @Test
    void S06_renewalExtendsGrantsAndCreatesNone() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        bench.redis().call("SET", "lock:foreign", "foreign", "PX", "5000");
        bench.redis().call("LPUSH", "lock:list", "a");
        assertThat(renew(RedlockScriptBench.RUN)).isEqualTo(List.of(1L, 0L, 0L, 0L));
        assertThat(bench.remainingMillis(KEYS.grant())).isGreaterThan(50_000);
        assertThat(bench.remainingMillis("lock:foreign")).isLessThanOrEqualTo(5_000);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, "lock:foreign", "lock:list", KEYS.grant());
    }

    private static List<?> recoverVote(String run, int number, long token, long notAfter) {
        return bench.run(
                RedlockScript.RECOVER_VOTE,
                run,
                KEYS.bucket(),
                RedlockScriptBench.attempt(number),
                String.valueOf(token),
                RedlockScriptBench.vote(number, 1),
                String.valueOf(LEASE_MILLIS),
                String.valueOf(notAfter));
    }

    private static List<?> recoverVote(int number, long token) {
        return recoverVote(RedlockScriptBench.RUN, number, token, bench.micros() + 5_000_000);
    }

    @Test
    void S03_recoveredVoteKeepsItsTokenAndRaisesTheCounter() {
        assertThat(recoverVote(1, 1_700_000_000_123_456L)).isEqualTo(YES);
        assertThat(bench.value()).isEqualTo(RedlockScriptBench.vote(1, 1) + " token=1700000000123456");
        assertThat(bench.counter()).isEqualTo("1700000000123456");
        assertThat(bench.remainingMillis(KEYS.grant())).isGreaterThan(50_000);
        bench.release(1);
        assertThat(recoverVote(1, 7)).isEqualTo(YES);
        assertThat(bench.value()).endsWith(" token=7");
        assertThat(bench.counter()).as("never lowered").isEqualTo("1700000000123456");
    }

    /** A vote of an earlier round, which a late request has left, becomes one of the grant. */
    @Test
    void S06_recoveryTakesTheVoteOfAnEarlierRound() {
        bench.acquireInRound(0, 1);
        assertThat(recoverVote(1, 9)).isEqualTo(YES);
        assertThat(bench.value()).isEqualTo(RedlockScriptBench.vote(1, 1) + " token=9");
        assertThat(recoverVote(1, 9)).as("it has the vote already").isEqualTo(NO);
    }

    /** Another contender had the vote when the holder won those of other masters. */
    @Test
    void S12_recoveryDeletesTheHoldersQueueEntry() {
        bench.tryAcquire(2);
        bench.acquire(1, bench.listen("c1"));
        bench.redis().call("DEL", KEYS.grant());
        assertThat(recoverVote(1, 9)).isEqualTo(YES);
        assertThat(bench.keys()).containsExactlyInAnyOrder(RedlockScriptBench.STATE, KEYS.grant());
    }

    @Test
    void S01_voteIsNotRecoveredIfHeldOrInQuarantineOrLate() {
        bench.tryAcquire(2);
        String value = bench.value();
        assertThat(recoverVote(1, 7)).isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        assertThat(bench.counter()).isEqualTo("1");
        bench.release(2);
        assertThat(recoverVote("another run", 1, 7, bench.micros() + 5_000_000)).isEqualTo(List.of("quarantined"));
        assertThat(recoverVote(RedlockScriptBench.RUN, 1, 7, bench.micros() - 1).toString())
                .startsWith("[late, ");
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
    }

    @Test
    void S11_releaseOfRecoveredVoteWakesHeadOfQueue() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.redis().call("DEL", KEYS.grant());
        assertThat(recoverVote(1, 1)).isEqualTo(YES);
        assertThat(bench.published(() -> bench.release(1))).containsExactly(hint("c2", 2));
    }

    @Test
    void S06_masterInQuarantineDoesNotRenew() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        assertThat(renew("another run")).isEqualTo(List.of("quarantined"));
        assertThat(bench.remainingMillis(KEYS.grant())).isLessThanOrEqualTo(5_000);
    }

    @Test
    void S08_fullMasterStillRenewsReleasesAndWakes() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        bench.acquire(4, bench.listen("c4"));
        bench.acquire(5, bench.listen("c5"));
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThatThrownBy(() -> bench.tryAcquire(9))
                .isInstanceOf(RawRedis.ErrorReply.class)
                .hasMessageContaining("OOM");
        assertThat(renew(RedlockScriptBench.RUN).get(0)).isEqualTo(1L);
        assertThat(bench.published(() -> assertThat(bench.release(1).get(0)).isEqualTo(1L)))
                .containsExactly(hint("c2", 2));
        assertThat(bench.published(() -> bench.release(2))).as("withdrawn").containsExactly(hint("c3", 3));
        bench.redis().call("CONFIG", "SET", "maxmemory", "0");
        bench.wokenLongAgo(3);
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThat(bench.published(() -> bench.release(9)))
                .as("release of an attempt that was never queued")
                .containsExactly(hint("c4", 4));
        bench.redis().call("CONFIG", "SET", "maxmemory", "0");
        bench.tryAcquire(6);
        bench.wokenLongAgo(4);
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThat(bench.published(() -> bench.run(RedlockScript.FORCE_RELEASE, RedlockScriptBench.attempt(6), "1")))
                .containsExactly(hint("c5", 5));
        assertThat(bench.value()).isEqualTo("null");
    }
}
