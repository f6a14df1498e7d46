// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestDeadlinesTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final ManualClock clock = new ManualClock();
    private final CountingClock counting = new CountingClock(clock);
    private final List<ScriptCall> overdue = new ArrayList<>();
    private final RequestDeadlines deadlines = new RequestDeadlines(counting, LIMIT, this::end);

    private void end(ScriptCall call) {
        overdue.add(call);
        call.completeExceptionally(new IllegalStateException("overdue"));
    }

    private ScriptCall begin() {
        ScriptCall call = ScriptCall.bySha1(new LuaScript("return 1"), new String[0], new String[0], clock.now(), 0);
        call.whenComplete((values, failure) -> deadlines.ended());
        deadlines.begin(call);
        return call;
    }

    @Test
    void S15_eachCallEndsAtItsOwnDeadline() {
        ScriptCall first = begin();
        clock.advance(Duration.ofSeconds(2));
        ScriptCall second = begin();
        clock.advance(Duration.ofMillis(2_999));
        assertThat(overdue).isEmpty();
        clock.advance(Duration.ofMillis(1));
        assertThat(overdue).containsExactly(first);
        clock.advance(Duration.ofMillis(1_999));
        assertThat(overdue).containsExactly(first);
        clock.advance(Duration.ofMillis(1));
        assertThat(overdue).containsExactly(first, second);
    }

    @Test
    void aCallWithAReplyIsNotEnded() {
        ScriptCall first = begin();
        ScriptCall second = begin();
        first.complete();
        clock.advance(LIMIT);
        assertThat(overdue).containsExactly(second);
        ScriptCall third = begin();
        clock.advance(LIMIT);
        assertThat(overdue).containsExactly(second, third);
    }

    @Test
    void oneTimerServesAllCalls() {
        for (int i = 0; i < 1_000; i++) {
            begin().complete();
        }
        assertThat(counting.timers).isEqualTo(1);
        clock.advance(LIMIT);
        assertThat(overdue).isEmpty();
        assertThat(counting.timers).isEqualTo(1);
    }

    @Test
    void S15_theIoThreadHasTimeToReadRepliesAfterAPause() {
        ScriptCall replied = begin();
        ScriptCall silent = begin();
        clock.advanceThenRunTimers(LIMIT.multipliedBy(3));
        assertThat(overdue).isEmpty();
        replied.complete();
        clock.advance(Duration.ofMillis(19));
        assertThat(overdue).isEmpty();
        clock.advance(Duration.ofMillis(1));
        assertThat(overdue).containsExactly(silent);
    }

    @Test
    void S15_aPauseBetweenTheChecksEndsOnlyCallsOfTheFirst() {
        ScriptCall seen = begin();
        clock.advance(Duration.ofMillis(4_990));
        ScriptCall begun = begin();
        clock.advanceThenRunTimers(LIMIT.multipliedBy(3));
        assertThat(overdue).containsExactly(seen);
        clock.advance(Duration.ofMillis(20));
        assertThat(overdue).containsExactly(seen, begun);
    }

    @Test
    void S15_theTimeToReadIsShorterForAShortTimeout() {
        RequestDeadlines tight = new RequestDeadlines(clock, Duration.ofMillis(20), this::end);
        ScriptCall call = ScriptCall.bySha1(new LuaScript("return 1"), new String[0], new String[0], clock.now(), 0);
        tight.begin(call);
        clock.advanceThenRunTimers(Duration.ofSeconds(1));
        assertThat(overdue).isEmpty();
        clock.advance(Duration.ofMillis(5));
        assertThat(overdue).contains(call);
    }

    /** If the server does not know a script, the call is sent again with its text, after calls that were sent meanwhile. */
    @Test
    void S15_aCallThatIsSentAgainHasTheRestOfItsTime() {
        ScriptCall call = begin();
        clock.advance(Duration.ofSeconds(4));
        ScriptCall younger = begin();
        call.completeExceptionally(new IllegalStateException("NOSCRIPT"));
        ScriptCall again = ScriptCall.byText(new LuaScript("return 1"), new String[0], new String[0], call.sentAt(), 0);
        deadlines.begin(again);
        clock.advanceThenRunTimers(Duration.ofSeconds(1));
        assertThat(overdue).as("its reply may have come during a pause").isEmpty();
        clock.advance(Duration.ofMillis(20));
        assertThat(overdue).containsExactly(again);
        clock.advance(Duration.ofSeconds(4));
        assertThat(overdue).containsExactly(again, younger);
    }

    @Test
    void S15_aCallThatBeginsAfterALossIsNotEndedWithIt() {
        ScriptCall lost = begin();
        List<ScriptCall> next = new ArrayList<>();
        lost.whenComplete((values, failure) -> next.add(begin()));
        deadlines.endAll(new IllegalStateException("lost"));
        assertThat(lost.isCompletedExceptionally()).isTrue();
        assertThat(next).hasSize(1).noneMatch(ScriptCall::isDone);
        clock.advance(LIMIT);
        assertThat(overdue).isEqualTo(next);
    }

    private static final class CountingClock implements LockClock {
        private final LockClock clock;
        private int timers;

        CountingClock(LockClock clock) {
            this.clock = clock;
        }

        @Override
        public MonotonicInstant now() {
            return clock.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            timers++;
            return clock.schedule(delay, task);
        }
    }
}
