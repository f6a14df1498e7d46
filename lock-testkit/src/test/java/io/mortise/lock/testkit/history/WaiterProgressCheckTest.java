// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.RELEASED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.KILLED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.PAUSED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.RESUMED;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests that the checker finds locks that stay free and waits that do not end. Rules S8, S9, S11. */
class WaiterProgressCheckTest {
    private final HandwrittenHistory history = new HandwrittenHistory();

    @Test
    void S8_anOrphanedGrantBlocks() {
        history.acquires("a", 0, Optional.of(Duration.ofMillis(100))).gaveUp(100);
        history.acquires("b", 200).granted(4000, 2).released(4010, 4011, RELEASED);
        history.breaks("S8");
    }

    @Test
    void S8_anOrphanedGrantOfAnOutage_mayBlockForATakeoverTime() {
        history.acquires("a", 0, Optional.of(Duration.ofMillis(100))).failed(100);
        history.acquires("b", 200).granted(4000, 2).released(4010, 4011, RELEASED);
        history.isGood();
    }

    @Test
    void S9_aWaitThatNeverEnds() {
        history.acquires("a", 5);
        history.held("b", 1, 10, 20);
        history.breaks("S9");
    }

    @Test
    void S9_aWaitOfAKilledProcess_isGood() {
        history.acquires("a", 5);
        history.disturbed("a", KILLED, 7);
        history.held("b", 1, 10, 20);
        history.isGood();
    }

    @Test
    void S9_aWaitThatEndsLongAfterItsLimit() {
        history.held("b", 1, 10, 1000);
        history.acquires("a", 20, Optional.of(Duration.ofMillis(100))).gaveUp(700);
        history.breaks("S9");
    }

    @Test
    void S9_aWaitThatWasFrozenAtItsLimit_isGood() {
        history.disturbed("a", PAUSED, 50).disturbed("a", RESUMED, 690);
        history.held("b", 1, 10, 1000);
        history.acquires("a", 20, Optional.of(Duration.ofMillis(100))).gaveUp(700);
        history.isGood();
    }

    @Test
    void S11_aReleaseThatWakesNoWaiter() {
        history.held("a", 1, 10, 20);
        history.acquires("b", 15).granted(1100, 2).released(1110, 1111, RELEASED);
        history.breaks("S11");
        assertThat(history.check().longestFree()).isEqualTo(Duration.ofMillis(1079));
    }

    @Test
    void S11_aReleaseThatWakesInTime_isGood() {
        history.held("a", 1, 10, 20);
        history.acquires("b", 15).granted(900, 2).released(910, 911, RELEASED);
        history.isGood();
    }

    @Test
    void S11_theLockOfAKilledProcessIsFreedTooLate() {
        history.acquires("a", 0).granted(10, 1).checks(10, true);
        history.disturbed("a", KILLED, 20);
        history.acquires("b", 15).granted(6100, 2).released(6110, 6111, RELEASED);
        history.breaks("S11");
    }

    @Test
    void S11_theLockOfAKilledProcessIsFreedInTime() {
        history.acquires("a", 0).granted(10, 1).checks(10, true);
        history.disturbed("a", KILLED, 20);
        history.acquires("b", 15).granted(5900, 2).released(5910, 5911, RELEASED);
        history.isGood();
    }

    @Test
    void S11_theLockOfAFrozenProcessIsFreedTooLate() {
        history.acquires("a", 0)
                .granted(10, 1)
                .checks(10, true)
                .checks(9010, true)
                .released(9020, 9021, RELEASED);
        history.disturbed("a", PAUSED, 20).disturbed("a", RESUMED, 9000);
        history.acquires("b", 15).granted(9030, 2).released(9031, 9032, RELEASED);
        history.breaks("S11");
    }

    @Test
    void S11_aFrozenWaiterMayBlockForATakeoverTime() {
        history.held("a", 1, 10, 100);
        history.acquires("b", 15).granted(9000, 3).checks(9001, true).released(9010, 9011, RELEASED);
        history.disturbed("b", PAUSED, 20).disturbed("b", RESUMED, 8990);
        history.acquires("c", 16).granted(5000, 2).checks(5000, true).released(5010, 5011, RELEASED);
        history.isGood();
    }

    @Test
    void S11_aLockWithoutWaitersMayBeFree() {
        history.held("a", 1, 10, 20);
        history.held("b", 2, 90_000, 90_010);
        history.isGood();
        assertThat(history.check().longestFree()).isLessThanOrEqualTo(Duration.ofMillis(1));
    }
}
