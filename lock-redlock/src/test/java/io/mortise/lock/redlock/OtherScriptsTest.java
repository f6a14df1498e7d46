// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static io.mortise.lock.redlock.ScriptBench.KEYS;
import static io.mortise.lock.redlock.ScriptBench.LEASE_MILLIS;
import static io.mortise.lock.redlock.ScriptBench.hint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.servers.BareRedis;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code raise.lua}, {@code yield.lua} and {@code renew.lua} alone, and what a full master still does. */
@Tag("once")
class OtherScriptsTest extends ScriptTest {
    private static final List<Long> YES = List.of(1L);
    private static final List<Long> NO = List.of(0L);

    @Test
    void S03_whatIsStillOursCountsWithTheTokenOfTheMajority() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "9000");
        assertThat(bench.raise(1, 1_700_000_000_123_456L)).isEqualTo(YES);
        assertThat(bench.counter()).isEqualTo("1700000000123456");
        assertThat(bench.value()).isEqualTo(ScriptBench.record(1) + " token=1700000000123456");
        assertThat(bench.left(KEYS.grant())).as("no longer than before").isBetween(4_000L, 9_000L);
        bench.release(1);
        assertThat(bench.tryAcquire(2)).isEqualTo(List.of(1_700_000_000_123_457L));
    }

    @Test
    void S03_aCounterIsNeverLowered() {
        bench.tryAcquire(1);
        bench.redis().call("HSET", ScriptBench.STATE, KEYS.bucket(), "50");
        assertThat(bench.raise(1, 7)).isEqualTo(YES);
        assertThat(bench.counter()).isEqualTo("50");
        assertThat(bench.value()).endsWith(" token=7");
    }

    @Test
    void S03_onlyTheTokenIsReplacedWhateverTheRecordSays() {
        String record = ScriptBench.record(1) + " owner=a%1 token=5 b";
        bench.redis().call("SET", KEYS.grant(), record + " token=1", "PX", "9000");
        assertThat(bench.raise(1, 12)).isEqualTo(YES);
        assertThat(bench.value()).isEqualTo(record + " token=12");
    }

    @Test
    void S03_whatIsNotOursIsNotRaised() {
        assertThat(bench.raise(1, 7)).as("missing").isEqualTo(NO);
        bench.tryAcquire(2);
        String value = bench.value();
        assertThat(bench.raise(1, 7)).as("another's").isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        assertThat(bench.counter()).isEqualTo("1");
        bench.redis().call("DEL", KEYS.grant());
        bench.redis().call("LPUSH", KEYS.grant(), "a", "list");
        assertThat(bench.raise(1, 7)).as("not a string").isEqualTo(NO);
        bench.redis().call("DEL", KEYS.grant());
        bench.tryAcquire(1);
        bench.redis().call("HDEL", ScriptBench.STATE, "run");
        assertThat(bench.raise(1, 7)).isEqualTo(List.of("unadmitted"));
        assertThat(bench.counter()).isEqualTo("2");
    }

    @Test
    void S10_aVoteGivenBackKeepsItsPlaceAndWakesNobody() {
        bench.tryAcquire(9);
        bench.acquire(3, bench.listen("c3"));
        bench.redis().call("DEL", KEYS.grant());
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.published(() -> assertThat(bench.giveBack(2, "c2")).isEqualTo(YES)))
                .isEmpty();
        assertThat(bench.value()).isEqualTo("null");
        assertThat(bench.line()).isEqualTo(ScriptBench.attempts(2, 3));
        bench.tryAcquire(9);
        assertThat(bench.published(() -> bench.release(9))).containsExactly(hint("c2", 2));
    }

    @Test
    void S17_aVoteGivenBackByOneThatDoesNotWaitLeavesNothing() {
        bench.tryAcquire(1);
        assertThat(bench.giveBack(1)).isEqualTo(YES);
        assertThat(bench.keys()).containsExactly(ScriptBench.STATE);
    }

    @Test
    void S05_anothersVoteIsNotGivenBack() {
        bench.tryAcquire(1);
        String value = bench.value();
        assertThat(bench.giveBack(2, "c2")).isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        bench.redis().call("DEL", KEYS.grant());
        bench.redis().call("LPUSH", KEYS.grant(), "a", "list");
        assertThat(bench.giveBack(2, "c2")).isEqualTo(NO);
        assertThat(bench.keys()).containsExactly(ScriptBench.STATE, KEYS.grant());
    }

    private static List<?> renew(String run) {
        List<String> keys = List.of(ScriptBench.STATE, KEYS.grant(), "lock:missing", "lock:foreign", "lock:list");
        String lease = String.valueOf(LEASE_MILLIS);
        String[] args = {
            run,
            ScriptBench.attempt(1),
            lease,
            ScriptBench.attempt(2),
            lease,
            ScriptBench.attempt(3),
            lease,
            ScriptBench.attempt(4),
            lease
        };
        return bench.eval(RedlockScript.RENEW.script().text(), keys, args);
    }

    @Test
    void S06_aRenewalExtendsWhatIsHeldAndMakesNothingAnew() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        bench.redis().call("SET", "lock:foreign", "somebody", "PX", "5000");
        bench.redis().call("LPUSH", "lock:list", "a");
        assertThat(renew(ScriptBench.RUN)).isEqualTo(List.of(1L, 0L, 0L, 0L));
        assertThat(bench.left(KEYS.grant())).isGreaterThan(50_000);
        assertThat(bench.left("lock:foreign")).isLessThanOrEqualTo(5_000);
        assertThat(bench.keys()).containsExactly(ScriptBench.STATE, "lock:foreign", "lock:list", KEYS.grant());
    }

    private static List<?> regain(String run, int number, long token, long notAfter) {
        return bench.run(
                RedlockScript.REGAIN,
                run,
                KEYS.bucket(),
                ScriptBench.attempt(number),
                String.valueOf(token),
                ScriptBench.record(number),
                String.valueOf(LEASE_MILLIS),
                String.valueOf(notAfter));
    }

    private static List<?> regain(int number, long token) {
        return regain(ScriptBench.RUN, number, token, bench.micros() + 5_000_000);
    }

    @Test
    void S03_aLostVoteIsTakenAgainWithItsTokenWhichTheCounterIsNotBelow() {
        assertThat(regain(1, 1_700_000_000_123_456L)).isEqualTo(YES);
        assertThat(bench.value()).isEqualTo(ScriptBench.record(1) + " token=1700000000123456");
        assertThat(bench.counter()).isEqualTo("1700000000123456");
        assertThat(bench.left(KEYS.grant())).isGreaterThan(50_000);
        bench.release(1);
        assertThat(regain(1, 7)).isEqualTo(YES);
        assertThat(bench.value()).endsWith(" token=7");
        assertThat(bench.counter()).as("never lowered").isEqualTo("1700000000123456");
    }

    @Test
    void S01_aLostVoteIsNotTakenFromWhoHasItNorFromAMasterThatDoesNotVoteNorTooLate() {
        bench.tryAcquire(2);
        String value = bench.value();
        assertThat(regain(1, 7)).isEqualTo(NO);
        assertThat(bench.value()).isEqualTo(value);
        assertThat(bench.counter()).isEqualTo("1");
        bench.release(2);
        assertThat(regain("another life", 1, 7, bench.micros() + 5_000_000)).isEqualTo(List.of("unadmitted"));
        assertThat(regain(ScriptBench.RUN, 1, 7, bench.micros() - 1).toString()).startsWith("[late, ");
        assertThat(bench.keys()).containsExactly(ScriptBench.STATE);
    }

    @Test
    void S11_whoStandsInLineIsWokenByTheReleaseOfAVoteThatWasTakenAgain() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.redis().call("DEL", KEYS.grant());
        assertThat(regain(1, 1)).isEqualTo(YES);
        assertThat(bench.published(() -> bench.release(1))).containsExactly(hint("c2", 2));
    }

    @Test
    void S06_aMasterThatIsNotAdmittedRefusesNoRenewal() {
        bench.tryAcquire(1);
        bench.redis().call("PEXPIRE", KEYS.grant(), "5000");
        assertThat(renew("another life")).isEqualTo(List.of("unadmitted"));
        assertThat(bench.left(KEYS.grant())).isLessThanOrEqualTo(5_000);
    }

    @Test
    void S08_aFullMasterStillRenewsReleasesAndWakes() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        bench.acquire(4, bench.listen("c4"));
        bench.acquire(5, bench.listen("c5"));
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThatThrownBy(() -> bench.tryAcquire(9))
                .isInstanceOf(BareRedis.ErrorReply.class)
                .hasMessageContaining("OOM");
        assertThat(renew(ScriptBench.RUN).get(0)).isEqualTo(1L);
        assertThat(bench.published(() -> assertThat(bench.release(1).get(0)).isEqualTo(1L)))
                .containsExactly(hint("c2", 2));
        assertThat(bench.published(() -> bench.release(2))).as("withdrawn").containsExactly(hint("c3", 3));
        bench.redis().call("CONFIG", "SET", "maxmemory", "0");
        bench.wokeLongAgo(3);
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThat(bench.published(() -> bench.release(9)))
                .as("one that never stood there")
                .containsExactly(hint("c4", 4));
        bench.redis().call("CONFIG", "SET", "maxmemory", "0");
        bench.tryAcquire(6);
        bench.wokeLongAgo(4);
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThat(bench.published(() -> bench.run(RedlockScript.FORCE_RELEASE, ScriptBench.attempt(6), "1")))
                .containsExactly(hint("c5", 5));
        assertThat(bench.value()).isEqualTo("null");
    }
}
