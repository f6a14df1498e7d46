// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import static io.mortise.lock.redlock.storage.RedlockScriptBench.RUN;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests {@code handshake.lua} and {@code leave_quarantine.lua}, which manage the quarantine state of a master. */
@Tag("once")
class QuarantineScriptsTest extends RedlockScriptTest {
    private static List<?> handshake(String run, long maxLeaseMillis) {
        return bench.onState(RedlockScript.HANDSHAKE, run, String.valueOf(maxLeaseMillis), "*");
    }

    private static List<?> leave(String run, long since, String maxLeaseMillis) {
        return leave(run, since, maxLeaseMillis, false);
    }

    private static List<?> leave(String run, long since, String maxLeaseMillis, boolean isNew) {
        return bench.onState(
                RedlockScript.LEAVE_QUARANTINE,
                run,
                String.valueOf(since),
                maxLeaseMillis,
                "0",
                isNew ? "1" : "0",
                "*");
    }

    private static long since(List<?> reply) {
        return (Long) reply.subList(2, 3).get(0);
    }

    private static Object state(String field) {
        return String.valueOf(bench.redis().call("HGET", RedlockScriptBench.STATE, field));
    }

    @Test
    void S03_quarantineStartIsStoredOncePerRunOfTheProcess() {
        bench.redis().call("FLUSHALL");
        long before = bench.micros();
        List<?> first = handshake("one", 0);
        assertThat(first.subList(0, 2)).as("votes now, has ever voted").isEqualTo(List.of(0L, 0L));
        assertThat(since(first)).isBetween(before, bench.micros());
        assertThat(since(handshake("one", 0))).isEqualTo(since(first));
        List<?> other = handshake("two", 0);
        assertThat(since(other)).as("another run").isGreaterThan(since(first));
        assertThat(since(handshake("two", 0))).isEqualTo(since(other));
    }

    @Test
    void S01_maxLeaseIsFixedWhenQuarantineIsLeft() {
        assertThat(handshake(RUN, 5_000).get(3))
                .as("stored when the master left quarantine")
                .isEqualTo(60_000L);
        assertThat(handshake("another run", 0).get(3)).isEqualTo(60_000L);
        long since = since(handshake("another run", 0));
        assertThat(leave("another run", since, "5000")).isEqualTo(List.of(0L));
        assertThat(state("maxLease")).isEqualTo("60000");
        bench.leaveQuarantine("another run", "0");
        assertThat(handshake("another run", 5_000).get(3)).isEqualTo(60_000L);
    }

    /** A client without a majority stores no value, since its own may be wrong. */
    @Test
    void S01_lostMaxLeaseIsRestoredByAClient() {
        bench.redis().call("FLUSHALL");
        assertThat(handshake("one", 0).get(3)).isEqualTo(0L);
        assertThat(state("maxLease")).isEqualTo("null");
        assertThat(handshake("one", 5_000).get(3)).isEqualTo(5_000L);
        assertThat(handshake("one", 7_000).get(3)).isEqualTo(5_000L);
        assertThat(handshake("two", 0).get(3)).isEqualTo(5_000L);
    }

    @Test
    void S03_masterVotesInThisRunAndIsInQuarantineInTheNext() {
        bench.redis().call("FLUSHALL");
        handshake("one", 0);
        bench.leaveQuarantine("one", "0");
        long before = bench.micros();
        List<?> reply = handshake("one", 0);
        assertThat(reply.subList(0, 3)).isEqualTo(List.of(1L, 1L, 0L));
        assertThat((Long) reply.get(4)).isBetween(before, bench.micros());
        assertThat(state("seen")).isEqualTo("null");
        List<?> next = handshake("two", 0);
        assertThat(next.subList(0, 2)).isEqualTo(List.of(0L, 1L));
        assertThat(since(next)).isGreaterThanOrEqualTo(before);
        assertThat(bench.tryAcquire(1)).isEqualTo(List.of("quarantined"));
    }

    @Test
    void S01_decisionBeforeAnotherLossDoesNotEndQuarantine() {
        bench.redis().call("FLUSHALL");
        long since = since(handshake("one", 0));
        bench.redis().call("FLUSHALL");
        assertThat(since(handshake("one", 0))).isGreaterThan(since);
        assertThat(leave("one", since, "60000")).isEqualTo(List.of(0L));
        assertThat(state("run")).isEqualTo("null");
        assertThat(bench.leaveQuarantine("one", "0")).isEqualTo(List.of(1L));
        assertThat(leave("one", 1, "60000")).as("another client was faster").isEqualTo(List.of(1L));
    }

    /** The clock by which the client has decided may run faster. */
    @Test
    void S01_quarantineDoesNotEndEarlyByTheMastersOwnClock() {
        bench.redis().call("FLUSHALL");
        long since = since(handshake("one", 0));
        assertThat(leave("one", since, "60000")).isEqualTo(List.of(0L));
        long longAgo = since - 60_000_000;
        bench.redis().call("HSET", RedlockScriptBench.STATE, "since", String.valueOf(longAgo));
        assertThat(leave("one", longAgo, "60000")).isEqualTo(List.of(1L));
    }

    /** Otherwise it would last for as long as the clock was set back. */
    @Test
    void S01_quarantineStartsAgainWhenTheClockWasSetBack() {
        bench.redis().call("FLUSHALL");
        handshake("one", 0);
        long future = bench.micros() + Duration.ofDays(365).toNanos() / 1_000;
        bench.redis().call("HSET", RedlockScriptBench.STATE, "since", String.valueOf(future));
        long before = bench.micros();
        long since = since(handshake("one", 0));
        assertThat(since).isBetween(before, bench.micros());
        assertThat(since(handshake("one", 0))).as("only once").isEqualTo(since);
        assertThat(leave("one", future, "60000")).isEqualTo(List.of(0L));
    }

    @Test
    void S03_countersNeverDecrease() {
        bench.redis().call("HSET", RedlockScriptBench.STATE, "03", "30", "04", "40");
        bench.leaveQuarantine(RUN, "0", "03", "29", "04", "1700000000123456", "05", "0");
        assertThat(state("03")).isEqualTo("30");
        assertThat(state("04")).isEqualTo("1700000000123456");
        assertThat(state("05")).isEqualTo("0");
    }

    @Test
    void S03_countersAreRaisedToTheClockIfSomeAreLost() {
        bench.redis().call("HSET", RedlockScriptBench.STATE, "03", "30");
        long before = bench.micros();
        long future = before + 3_600_000_000L; // counter of a master that was raised to a clock that is ahead
        bench.leaveQuarantine(RUN, "1", "03", "29", "04", String.valueOf(future));
        assertThat(Long.parseLong(String.valueOf(state("03")))).isBetween(before, bench.micros());
        assertThat(state("04")).isEqualTo(String.valueOf(future));
    }

    @Test
    void S03_onlyAVotingMasterGivesItsCounters() {
        bench.redis().call("HSET", RedlockScriptBench.STATE, "03", "1700000000123456");
        assertThat(bench.onState(RedlockScript.READ_COUNTERS, RUN, "03", "04"))
                .isEqualTo(List.of(1_700_000_000_123_456L, 0L));
        assertThat(bench.onState(RedlockScript.READ_COUNTERS, "another run", "03", "04"))
                .isEmpty();
        bench.redis().call("FLUSHALL");
        assertThat(bench.onState(RedlockScript.READ_COUNTERS, RUN, "03", "04")).isEmpty();
    }

    /** Clients wait for the message, instead of reading the state of the master all the time. */
    @Test
    void S01_clientsAreToldOnceWhenQuarantineBeginsAndOnceWhenItEnds() {
        bench.redis().call("FLUSHALL");
        bench.listen("client");
        assertThat(bench.published(() -> {
                    handshake("one", 0);
                    handshake("one", 0);
                }))
                .isEqualTo(List.of("client Q"));
        long since = since(handshake("one", 0));
        assertThat(bench.published(() -> {
                    leave("one", since, "60000", true);
                    leave("one", since, "60000", true);
                    handshake("one", 0);
                }))
                .isEqualTo(List.of("client Q"));
    }
}
