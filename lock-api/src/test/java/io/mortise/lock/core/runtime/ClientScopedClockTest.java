// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a client cancels its own timers on a shared clock, and only these. */
class ClientScopedClockTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock shared = new ManualClock();
    private final ClientScopedClock one = new ClientScopedClock(shared);
    private final ClientScopedClock two = new ClientScopedClock(shared);
    private final List<String> ran = new ArrayList<>();

    @Test
    void S17_stopCancelsTheTimersOfOneClient() {
        one.schedule(SECOND, () -> ran.add("one"));
        two.schedule(SECOND, () -> ran.add("two"));
        one.stop();
        assertThat(shared.timerCount()).isEqualTo(1);
        shared.advance(SECOND);
        assertThat(ran).containsExactly("two");
    }

    @Test
    void S17_aTimerThatIsSetAfterTheStopIsCancelled() {
        one.stop();
        one.schedule(SECOND, () -> ran.add("late"));
        assertThat(shared.timerCount()).isZero();
    }

    @Test
    void onlyAManualClockIsManual() {
        assertThat(one.isManual()).isTrue();
        SystemClock system = new SystemClock();
        assertThat(new ClientScopedClock(system).isManual()).isFalse();
        system.stop();
    }
}
