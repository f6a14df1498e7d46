// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeferredWatchesTest {
    private static final Duration PERIOD = Duration.ofMillis(100);
    private final ManualClock clock = new ManualClock();
    private final DeferredWatches late = new DeferredWatches(clock, PERIOD);
    private final List<String> registered = new ArrayList<>();

    private DeferredWatches.Held held(String name) {
        return () -> registered.add(name);
    }

    private void period() {
        clock.advance(PERIOD);
    }

    @Test
    void armsAfterOneToTwoPeriodsAndOnce() {
        late.add(held("early"));
        clock.advance(PERIOD.dividedBy(2));
        late.add(held("late"));
        clock.advance(PERIOD.dividedBy(2));
        assertThat(registered).as("one may be half a period old").isEmpty();
        period();
        assertThat(registered).containsExactlyInAnyOrder("early", "late");
        period();
        assertThat(registered).hasSize(2);
    }

    @Test
    void restartsAfterItWasIdle() {
        late.add(held("first"));
        assertThat(clock.timers()).isEqualTo(1);
        late.add(held("second"));
        assertThat(clock.timers()).as("one for all").isEqualTo(1);
        period();
        period();
        assertThat(clock.timers()).isZero();
        late.add(held("third"));
        period();
        period();
        assertThat(registered).containsExactlyInAnyOrder("first", "second", "third");
        assertThat(clock.timers()).isZero();
    }

    @Test
    void whoEndsIsForgottenBeforeAndAfterATickAndWhenAddedTwice() {
        DeferredWatches.Held fresh = held("fresh");
        late.add(fresh);
        late.remove(fresh);
        DeferredWatches.Held older = held("older");
        late.add(older);
        DeferredWatches.Held both = held("both");
        late.add(both);
        period();
        late.add(both);
        late.remove(older);
        late.remove(both);
        period();
        period();
        period();
        assertThat(registered).isEmpty();
        assertThat(clock.timers()).isZero();
    }

    @Test
    void oneThatFailsDoesNotKeepItFromTheOthers() {
        late.add(held("a"));
        late.add(() -> {
            throw new IllegalStateException("as planned");
        });
        late.add(held("b"));
        period();
        period();
        assertThat(registered).containsExactlyInAnyOrder("a", "b");
        late.add(held("c"));
        period();
        period();
        assertThat(registered).contains("c");
    }
}
