// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests when the watches of held grants are registered, on a manual clock. */
class LongHoldWatchSchedulerTest {
    private static final Duration PERIOD = Duration.ofMillis(100);
    private final ManualClock clock = new ManualClock();
    private final LongHoldWatchScheduler watches = new LongHoldWatchScheduler(clock, PERIOD);
    private final List<String> registered = new ArrayList<>();

    private LongHoldWatchScheduler.Held held(String name) {
        return () -> registered.add(name);
    }

    private void period() {
        clock.advance(PERIOD);
    }

    @Test
    void registersOnceAfterOneToTwoPeriods() {
        watches.add(held("early"));
        clock.advance(PERIOD.dividedBy(2));
        watches.add(held("late"));
        clock.advance(PERIOD.dividedBy(2));
        assertThat(registered).as("one may be half a period old").isEmpty();
        period();
        assertThat(registered).containsExactlyInAnyOrder("early", "late");
        period();
        assertThat(registered).hasSize(2);
    }

    @Test
    void theTimerRunsOnlyWhileGrantsNeedIt() {
        watches.add(held("first"));
        assertThat(clock.timerCount()).isEqualTo(1);
        watches.add(held("second"));
        assertThat(clock.timerCount()).as("one for all").isEqualTo(1);
        period();
        period();
        assertThat(clock.timerCount()).isZero();
        watches.add(held("third"));
        period();
        period();
        assertThat(registered).containsExactlyInAnyOrder("first", "second", "third");
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void aRemovedGrantIsNotRegistered() {
        LongHoldWatchScheduler.Held recent = held("recent");
        watches.add(recent);
        watches.remove(recent);
        LongHoldWatchScheduler.Held older = held("older");
        watches.add(older);
        LongHoldWatchScheduler.Held both = held("both");
        watches.add(both);
        period();
        watches.add(both);
        watches.remove(older);
        watches.remove(both);
        period();
        period();
        period();
        assertThat(registered).isEmpty();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void aFailureDoesNotPreventOtherRegistrations() {
        watches.add(held("a"));
        watches.add(() -> {
            throw new IllegalStateException("as planned");
        });
        watches.add(held("b"));
        period();
        period();
        assertThat(registered).containsExactlyInAnyOrder("a", "b");
        watches.add(held("c"));
        period();
        period();
        assertThat(registered).contains("c");
    }
}
