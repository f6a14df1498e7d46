// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the reason of a loss if a renewal finds no grant, before and after the deadline. */
class GrantValidityTest {
    private static final Duration LEASE = Duration.ofSeconds(10);

    private final ManualClock clock = new ManualClock();
    private final GrantValidity validity =
            new GrantValidity(clock, LEASE.dividedBy(3), LockClock.deadline(clock.now(), LEASE)) {};

    @Test
    void S06_aGrantThatIsMissingBeforeTheDeadlineWasRemoved() {
        clock.advance(Duration.ofSeconds(9));
        validity.removed("deleted");
        assertThat(validity.reason()).contains(new LossReason(LossReason.Kind.REMOVED, "deleted"));
    }

    /** The reply to a renewal arrives after the deadline, but before the timer of the deadline has run. */
    @Test
    void S06_aGrantThatIsMissingAfterTheDeadlineHasExpired() {
        clock.advanceWithoutTimers(LEASE);
        validity.removed("deleted");
        assertThat(validity.reason()).map(LossReason::kind).contains(LossReason.Kind.EXPIRED);
    }
}
