// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import static io.mortise.lock.redlock.storage.RedlockScriptBench.KEYS;
import static io.mortise.lock.redlock.storage.RedlockScriptBench.LEASE_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests {@code release_after.lua}, which keeps a vote for a delay, and that late requests leave such a vote as it is. */
@Tag("once")
class ReleaseAfterScriptTest extends RedlockScriptTest {
    private static final long DELAY_MILLIS = 20_000;

    private static List<?> releaseAfter(int number, long delayMillis) {
        return bench.run(
                RedlockScript.RELEASE_AFTER,
                RedlockScriptBench.attempt(number),
                String.valueOf(delayMillis),
                "",
                RedlockScriptBench.RUN);
    }

    private static void assertKept(String released) {
        assertThat(bench.value()).isEqualTo("~" + released);
        assertThat(bench.remainingMillis(KEYS.grant())).isBetween(1L, DELAY_MILLIS);
    }

    @Test
    void S05_lateRequestsOfAReleasedAttemptDoNotChangeTheKeptVote() {
        bench.tryAcquire(1);
        String released = bench.value();
        assertThat(releaseAfter(1, DELAY_MILLIS).get(0)).isEqualTo(1L);
        String[] renewal = {RedlockScriptBench.RUN, RedlockScriptBench.attempt(1), String.valueOf(LEASE_MILLIS)};
        assertThat(bench.eval(
                        RedlockScript.RENEW.script().text(), List.of(RedlockScriptBench.STATE, KEYS.grant()), renewal))
                .isEqualTo(List.of(0L));
        assertThat(bench.tryAcquire(1).get(0)).isEqualTo("busy");
        assertThat(bench.raiseToken(1, 1_000)).isEqualTo(List.of(0L));
        assertThat(bench.yieldVote(1)).isEqualTo(List.of(0L));
        assertThat(bench.release(1).get(0)).as("a cleanup").isEqualTo(0L);
        assertKept(released);
    }

    @Test
    void S05_aRepeatedDelayedReleaseKeepsTheVoteNoLonger() {
        bench.tryAcquire(1);
        String released = bench.value();
        assertThat(releaseAfter(1, 3 * LEASE_MILLIS).get(0)).isEqualTo(1L);
        assertThat(bench.remainingMillis(KEYS.grant())).isGreaterThan(LEASE_MILLIS);
        assertThat(releaseAfter(1, DELAY_MILLIS).get(0)).isEqualTo(1L);
        assertThat(releaseAfter(1, LEASE_MILLIS).get(0)).as("executed late").isEqualTo(1L);
        assertKept(released);
    }

    @Test
    void S05_aDelayedReleaseChangesNoOtherVote() {
        assertThat(releaseAfter(1, DELAY_MILLIS).get(0)).isEqualTo(0L);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
        bench.tryAcquire(2);
        String value = bench.value();
        assertThat(releaseAfter(1, DELAY_MILLIS).get(0)).isEqualTo(0L);
        assertThat(bench.value()).isEqualTo(value);
        assertThat(bench.remainingMillis(KEYS.grant())).isGreaterThan(DELAY_MILLIS);
    }

    @Test
    void S12_theQueueEntryIsDeletedAndNobodyIsWoken() {
        bench.tryAcquire(9);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        assertThat(bench.published(() -> releaseAfter(2, DELAY_MILLIS))).isEmpty();
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(3));
        releaseAfter(3, DELAY_MILLIS);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE, KEYS.grant());
    }

    @Test
    void S05_aMasterInQuarantineDoesNotCountAndKeepsNothing() {
        bench.tryAcquire(1);
        String value = bench.value();
        bench.redis().call("HDEL", RedlockScriptBench.STATE, "run");
        assertThat(releaseAfter(1, DELAY_MILLIS)).isEqualTo(List.of("quarantined"));
        assertThat(bench.value()).isEqualTo(value);
    }

    /** Otherwise the votes for one holder, with and without the mark, would look like those of two contenders. */
    @Test
    void S15_contendersSeeTheIdOfTheLastHolder() {
        bench.tryAcquire(1);
        releaseAfter(1, DELAY_MILLIS);
        assertThat(bench.tryAcquire(2).get(2)).isEqualTo(RedlockScriptBench.attempt(1));
    }

    @Test
    void S18_aForcedReleaseFindsTheKeptVote() {
        bench.tryAcquire(1);
        releaseAfter(1, DELAY_MILLIS);
        assertThat(bench.run(RedlockScript.FORCE_RELEASE, RedlockScriptBench.attempt(2), "1"))
                .isEqualTo(List.of(0L));
        assertThat(bench.run(RedlockScript.FORCE_RELEASE, RedlockScriptBench.attempt(1), "1"))
                .isEqualTo(List.of(1L));
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
    }

    @Test
    void S05_aFullMasterKeepsTheVote() {
        bench.tryAcquire(1);
        String released = bench.value();
        bench.redis().call("CONFIG", "SET", "maxmemory", "1");
        assertThat(releaseAfter(1, DELAY_MILLIS).get(0)).isEqualTo(1L);
        assertKept(released);
    }
}
