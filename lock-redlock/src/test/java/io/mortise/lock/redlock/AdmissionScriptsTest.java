// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static io.mortise.lock.redlock.ScriptBench.RUN;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code greet.lua} and {@code admit.lua} alone: what a master knows of itself. */
@Tag("once")
class AdmissionScriptsTest extends ScriptTest {
    private static List<?> greet(String run, long maxLeaseMillis) {
        return bench.onState(RedlockScript.GREET, run, String.valueOf(maxLeaseMillis));
    }

    private static long since(List<?> answer) {
        return (Long) answer.subList(2, 3).get(0);
    }

    private static Object state(String field) {
        return String.valueOf(bench.redis().call("HGET", ScriptBench.STATE, field));
    }

    @Test
    void S03_whatWasNeverAdmittedSaysSoAndSinceWhenThatIsKnownOnceForEachLife() {
        bench.redis().call("FLUSHALL");
        long before = bench.micros();
        List<?> first = greet("one", 0);
        assertThat(first.subList(0, 2)).as("votes, and did before").isEqualTo(List.of(0L, 0L));
        assertThat(since(first)).isBetween(before, bench.micros());
        assertThat(since(greet("one", 0))).isEqualTo(since(first));
        List<?> other = greet("two", 0);
        assertThat(since(other)).as("another life").isGreaterThan(since(first));
        assertThat(since(greet("two", 0))).isEqualTo(since(other));
    }

    @Test
    void S01_theLongestLeaseIsThatOfItsAdmissionAndNoOtherIsTaken() {
        assertThat(greet(RUN, 5_000).get(3)).as("admitted before").isEqualTo(60_000L);
        assertThat(greet("another life", 0).get(3)).isEqualTo(60_000L);
        long since = since(greet("another life", 0));
        assertThat(bench.onState(RedlockScript.ADMIT, "another life", String.valueOf(since), "5000", "0"))
                .isEqualTo(List.of(0L));
        assertThat(state("maxLease")).isEqualTo("60000");
        bench.admit("another life", "0");
        assertThat(greet("another life", 5_000).get(3)).isEqualTo(60_000L);
    }

    /** A newcomer may have the wrong idea of it. */
    @Test
    void S01_whatHasLostTheLongestLeaseHearsOfItFromThoseWhoKnow() {
        bench.redis().call("FLUSHALL");
        assertThat(greet("one", 0).get(3)).isEqualTo(0L);
        assertThat(state("maxLease")).isEqualTo("null");
        assertThat(greet("one", 5_000).get(3)).isEqualTo(5_000L);
        assertThat(greet("one", 7_000).get(3)).isEqualTo(5_000L);
        assertThat(greet("two", 0).get(3)).isEqualTo(5_000L);
    }

    @Test
    void S03_anAdmittedOneVotesInThisLifeAndKnowsOfItInTheNext() {
        bench.redis().call("FLUSHALL");
        greet("one", 0);
        bench.admit("one", "0");
        long before = bench.micros();
        List<?> answer = greet("one", 0);
        assertThat(answer.subList(0, 3)).isEqualTo(List.of(1L, 1L, 0L));
        assertThat((Long) answer.get(4)).isBetween(before, bench.micros());
        assertThat(state("seen")).isEqualTo("null");
        List<?> next = greet("two", 0);
        assertThat(next.subList(0, 2)).isEqualTo(List.of(0L, 1L));
        assertThat(since(next)).isGreaterThanOrEqualTo(before);
        assertThat(bench.tryAcquire(1)).isEqualTo(List.of("unadmitted"));
    }

    @Test
    void S01_whatWasJudgedBeforeItForgotAgainDoesNotAdmit() {
        bench.redis().call("FLUSHALL");
        long since = since(greet("one", 0));
        bench.redis().call("FLUSHALL");
        assertThat(since(greet("one", 0))).isGreaterThan(since);
        assertThat(bench.onState(RedlockScript.ADMIT, "one", String.valueOf(since), "60000", "0"))
                .isEqualTo(List.of(0L));
        assertThat(state("run")).isEqualTo("null");
        assertThat(bench.admit("one", "0")).isEqualTo(List.of(1L));
        assertThat(bench.onState(RedlockScript.ADMIT, "one", "1", "60000", "0"))
                .as("somebody else was faster")
                .isEqualTo(List.of(1L));
    }

    @Test
    void S03_countersOnlyRise() {
        bench.redis().call("HSET", ScriptBench.STATE, "03", "30", "04", "40");
        bench.admit(RUN, "0", "03", "29", "04", "1700000000123456", "05", "0");
        assertThat(state("03")).isEqualTo("30");
        assertThat(state("04")).isEqualTo("1700000000123456");
        assertThat(state("05")).isEqualTo("0");
    }

    @Test
    void S03_wherePartOfTheCountersIsLostForEverTheyRiseToTheClock() {
        bench.redis().call("HSET", ScriptBench.STATE, "03", "30");
        long before = bench.micros();
        long future = before + 3_600_000_000L; // of one that was admitted so, and whose clock is ahead
        bench.admit(RUN, "1", "03", "29", "04", String.valueOf(future));
        assertThat(Long.parseLong(String.valueOf(state("03")))).isBetween(before, bench.micros());
        assertThat(state("04")).isEqualTo(String.valueOf(future));
    }
}
