// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import static io.mortise.lock.redlock.storage.RedlockScriptBench.KEYS;
import static io.mortise.lock.redlock.storage.RedlockScriptBench.hint;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests {@code release.lua}, which releases or withdraws an attempt and wakes the next contender. */
@Tag("once")
class ReleaseScriptTest extends RedlockScriptTest {
    @Test
    void S17_releaseDeletesOwnVoteAndLeavesNothing() {
        bench.tryAcquire(1);
        bench.redis().resetCommandCalls();
        assertThat(bench.run(RedlockScript.RELEASE, RedlockScriptBench.attempt(1), "0"))
                .isEqualTo(List.of(1L));
        assertThat(bench.redis().commandCalls()).containsOnlyKeys("eval", "get", "exists", "del");
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
        assertThat(bench.counter()).isEqualTo("1");
    }

    @Test
    void S05_releaseKeepsOtherGrantsAndForeignKeys() {
        bench.tryAcquire(1);
        List<?> reply = bench.release(2);
        assertThat(reply.subList(0, 2)).isEqualTo(List.of(0L, 0L));
        assertThat((Long) reply.get(2)).isBetween(bench.micros() - 10_000_000, bench.micros());
        assertThat(bench.value()).startsWith(RedlockScriptBench.record(1));
        bench.redis().call("SET", KEYS.grant(), "not ours");
        assertThat(bench.release(1).get(0)).isEqualTo(0L);
        assertThat(bench.value()).isEqualTo("not ours");
        bench.redis().call("DEL", KEYS.grant());
        bench.redis().call("LPUSH", KEYS.grant(), "a", "list");
        assertThat(bench.release(1).get(0)).isEqualTo(0L);
        assertThat(bench.redis().call("LLEN", KEYS.grant())).isEqualTo(2L);
    }

    @Test
    void S08_masterInQuarantineReleases() {
        bench.tryAcquire(1);
        bench.redis().call("HDEL", RedlockScriptBench.STATE, "run");
        assertThat(bench.release(1).get(0)).isEqualTo(1L);
        assertThat(bench.value()).isEqualTo("null");
    }

    @Test
    void S11_releaseWakesOnlyHeadOfQueueAndGrantsNothing() {
        bench.tryAcquire(1);
        bench.acquire(3, bench.listen("c3"));
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.published(
                        () -> assertThat(bench.release(1).subList(0, 2)).isEqualTo(List.of(1L, 0L))))
                .containsExactly(hint("c2", 2));
        assertThat(bench.value()).isEqualTo("null");
        assertThat(bench.queue()).as("until it has the lock").isEqualTo(RedlockScriptBench.attempts(2, 3));
    }

    @Test
    void S12_deadAndExpiredQueueEntriesAreSkipped() {
        bench.tryAcquire(1);
        bench.acquire(2, "no-subscriber");
        bench.acquire(3, bench.listen("c3"));
        bench.timeOut(3);
        bench.acquire(4, bench.listen("c4"));
        assertThat(bench.published(() -> bench.release(1))).containsExactly(hint("c4", 4));
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(4));
    }

    @Test
    void S17_queueOfDeadEntriesIsDeleted() {
        bench.tryAcquire(1);
        bench.acquire(2, "no-subscriber");
        assertThat(bench.published(() -> bench.release(1))).isEmpty();
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
    }

    @Test
    void S12_wokenContenderThatSendsNoRequestIsSkipped() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("frozen"));
        bench.acquire(3, bench.listen("c3"));
        assertThat(bench.published(() -> bench.release(1))).containsExactly(hint("frozen", 2));
        bench.tryAcquire(4); // a new contender is faster
        assertThat(bench.published(() -> bench.release(4)))
                .as("already woken less than a second ago")
                .isEmpty();
        bench.tryAcquire(5);
        bench.wokenLongAgo(2);
        assertThat(bench.published(() -> bench.release(5))).containsExactly(hint("c3", 3));
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(3));
    }

    @Test
    void S11_contenderThatLostTheRaceIsWokenAgain() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.release(1);
        bench.tryAcquire(4); // a new contender is faster
        bench.acquire(RedlockScriptBench.RUN, 2, bench.micros() + 5_000_000, true, RedlockScriptBench.waiting(2, "c2"));
        assertThat(bench.published(() -> bench.release(4))).containsExactly(hint("c2", 2));
    }

    @Test
    void S10_withdrawalDeletesQueueEntryAndWakesNextIfFree() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        bench.acquire(4, bench.listen("c4"));
        assertThat(bench.published(
                        () -> assertThat(bench.release(2).subList(0, 2)).isEqualTo(List.of(0L, 1L))))
                .as("the lock is held")
                .isEmpty();
        assertThat(bench.published(() -> bench.release(1))).containsExactly(hint("c3", 3));
        assertThat(bench.published(() -> bench.release(3))).containsExactly(hint("c4", 4));
        bench.release(4);
        assertThat(bench.keys()).containsExactly(RedlockScriptBench.STATE);
    }

    @Test
    void S08_repeatedReleaseKeepsTheNextGrant() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        bench.release(1);
        bench.acquire(RedlockScriptBench.RUN, 2, bench.micros() + 5_000_000, true, RedlockScriptBench.waiting(2, "c2"));
        bench.acquire(3, bench.listen("c3"));
        String value = bench.value();
        assertThat(bench.published(
                        () -> assertThat(bench.release(1).subList(0, 2)).isEqualTo(List.of(0L, 0L))))
                .isEmpty();
        assertThat(bench.value()).isEqualTo(value).startsWith(RedlockScriptBench.record(2));
        assertThat(bench.queue()).isEqualTo(RedlockScriptBench.attempts(3));
    }

    @Test
    void S16_forcedReleaseOfForeignLockNeedsItsWholeValue() {
        bench.redis().call("SET", RedlockScriptBench.KEYS.grant(), "abc");
        assertThat(bench.run(RedlockScript.FORCE_RELEASE, "ab", "0")).isEqualTo(List.of(0L));
        assertThat(bench.run(RedlockScript.FORCE_RELEASE, "", "0")).isEqualTo(List.of(0L));
        assertThat(bench.run(RedlockScript.FORCE_RELEASE, "abc", "0")).isEqualTo(List.of(1L));
    }

    @Test
    void S16_forcedReleaseDeletesExactlyThatGrantAndWakes() {
        bench.tryAcquire(1);
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.run(RedlockScript.FORCE_RELEASE, RedlockScriptBench.attempt(3), "1"))
                .isEqualTo(List.of(0L));
        assertThat(bench.value()).startsWith(RedlockScriptBench.record(1));
        assertThat(bench.published(
                        () -> assertThat(bench.run(RedlockScript.FORCE_RELEASE, RedlockScriptBench.attempt(1), "1"))
                                .isEqualTo(List.of(1L))))
                .containsExactly(hint("c2", 2));
        assertThat(bench.value()).isEqualTo("null");
    }
}
