// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class GrantValidityTest {
    private static final Duration LEASE = Duration.ofSeconds(10);

    private final ManualClock clock = new ManualClock();
    private final GrantValidity validity =
            new GrantValidity(clock, LEASE.dividedBy(3), LockClock.deadline(clock.now(), LEASE)) {};

    @Test
    void S06_whatIsMissingBeforeTheDeadlineWasRemoved() {
        clock.advance(Duration.ofSeconds(9));
        validity.removed("deleted");
        assertThat(validity.reason()).contains(new LossReason(LossReason.Kind.REMOVED, "deleted"));
    }

    /** The answer to a renewal came before the timer that tells of the deadline. */
    @Test
    void S06_whatIsMissingAfterTheDeadlineHasExpired() {
        clock.leap(LEASE);
        validity.removed("deleted");
        assertThat(validity.reason()).map(LossReason::kind).contains(LossReason.Kind.EXPIRED);
    }
}
