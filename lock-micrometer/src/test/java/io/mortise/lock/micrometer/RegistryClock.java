// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import io.micrometer.core.instrument.Clock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;

/** Makes a meter registry follow a manual clock. */
record RegistryClock(ManualClock clock, MonotonicInstant start) implements Clock {
    static RegistryClock of(ManualClock clock) {
        return new RegistryClock(clock, clock.now());
    }

    @Override
    public long wallTime() {
        return monotonicTime() / 1_000_000;
    }

    @Override
    public long monotonicTime() {
        return clock.since(start).toNanos();
    }
}
