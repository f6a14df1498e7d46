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

/** S8, S9 and S11: histories that break them, and near misses that do not. */
class StarvationCheckTest {
    private final HandwrittenHistory story = new HandwrittenHistory();

    @Test
    void S8_aForgottenGrantBlocks() {
        story.asks("a", 0, Optional.of(Duration.ofMillis(100))).gaveUp(100);
        story.asks("b", 200).granted(4000, 2).released(4010, 4011, RELEASED);
        story.breaks("S8");
    }

    @Test
    void S8_aForgottenGrantOfAnOutage_mayBlockForATakeover() {
        story.asks("a", 0, Optional.of(Duration.ofMillis(100))).failed(100);
        story.asks("b", 200).granted(4000, 2).released(4010, 4011, RELEASED);
        story.isGood();
    }

    @Test
    void S9_aWaitThatNeverEnds() {
        story.asks("a", 5);
        story.held("b", 1, 10, 20);
        story.breaks("S9");
    }

    @Test
    void S9_aWaitOfTheDead_isGood() {
        story.asks("a", 5);
        story.disturbed("a", KILLED, 7);
        story.held("b", 1, 10, 20);
        story.isGood();
    }

    @Test
    void S9_aWaitThatEndsLongAfterItsLimit() {
        story.held("b", 1, 10, 1000);
        story.asks("a", 20, Optional.of(Duration.ofMillis(100))).gaveUp(700);
        story.breaks("S9");
    }

    @Test
    void S9_aWaitThatWasFrozenAtItsLimit_isGood() {
        story.disturbed("a", PAUSED, 50).disturbed("a", RESUMED, 690);
        story.held("b", 1, 10, 1000);
        story.asks("a", 20, Optional.of(Duration.ofMillis(100))).gaveUp(700);
        story.isGood();
    }

    @Test
    void S11_aReleaseThatWakesNobody() {
        story.held("a", 1, 10, 20);
        story.asks("b", 15).granted(1100, 2).released(1110, 1111, RELEASED);
        story.breaks("S11");
        assertThat(story.check().longestFree()).isEqualTo(Duration.ofMillis(1079));
    }

    @Test
    void S11_aReleaseThatWakesInTime_isGood() {
        story.held("a", 1, 10, 20);
        story.asks("b", 15).granted(900, 2).released(910, 911, RELEASED);
        story.isGood();
    }

    @Test
    void S11_theLockOfTheDeadIsNeverFreed() {
        story.asks("a", 0).granted(10, 1).checks(10, true);
        story.disturbed("a", KILLED, 20);
        story.asks("b", 15).granted(6100, 2).released(6110, 6111, RELEASED);
        story.breaks("S11");
    }

    @Test
    void S11_theLockOfTheDeadIsFreedInTime() {
        story.asks("a", 0).granted(10, 1).checks(10, true);
        story.disturbed("a", KILLED, 20);
        story.asks("b", 15).granted(5900, 2).released(5910, 5911, RELEASED);
        story.isGood();
    }

    @Test
    void S11_theLockOfTheFrozenIsNeverFreed() {
        story.asks("a", 0).granted(10, 1).checks(10, true).checks(9010, true).released(9020, 9021, RELEASED);
        story.disturbed("a", PAUSED, 20).disturbed("a", RESUMED, 9000);
        story.asks("b", 15).granted(9030, 2).released(9031, 9032, RELEASED);
        story.breaks("S11");
    }

    @Test
    void S11_aFrozenWaiterDelaysNoLongerThanATakeover() {
        story.held("a", 1, 10, 100);
        story.asks("b", 15).granted(9000, 3).checks(9001, true).released(9010, 9011, RELEASED);
        story.disturbed("b", PAUSED, 20).disturbed("b", RESUMED, 8990);
        story.asks("c", 16).granted(5000, 2).checks(5000, true).released(5010, 5011, RELEASED);
        story.isGood();
    }

    @Test
    void S11_nobodyWaits_soItMayBeFree() {
        story.held("a", 1, 10, 20);
        story.held("b", 2, 90_000, 90_010);
        story.isGood();
        assertThat(story.check().longestFree()).isLessThanOrEqualTo(Duration.ofMillis(1));
    }
}
