// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.LOST;
import static io.mortise.lock.ReleaseOutcome.RELEASED;
import static io.mortise.lock.ReleaseOutcome.UNKNOWN;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.PAUSED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.RESUMED;

import org.junit.jupiter.api.Test;

/** S1, S2, S5 and S6: histories that break them, and near misses that do not. */
class ExclusionCheckTest {
    private final HandwrittenHistory story = new HandwrittenHistory();

    @Test
    void S1_twoBelieveAtOnce() {
        story.held("a", 1, 10, 30);
        story.asks("b", 5).granted(22, 2).checks(22, true).released(40, 41, RELEASED);
        story.breaks("S1", "S5");
    }

    /** The older one checks once after the newer was granted, and the newer never does. */
    @Test
    void S1_aBeliefAfterTheNextGrant() {
        story.asks("a", 0).granted(10, 1).checks(30, true).told(40).released(50, 51, LOST);
        story.asks("b", 5).granted(20, 2).released(60, 61, RELEASED);
        story.breaks("S1");
    }

    @Test
    void S1_twoBelieveAtOnce_withoutTokens() {
        story.asks("a", 0)
                .grantedWithoutToken(10)
                .checks(10, true)
                .checks(30, true)
                .released(31, 32, UNKNOWN);
        story.asks("b", 5).grantedWithoutToken(20).checks(20, true).released(40, 41, RELEASED);
        story.breaks("S1");
    }

    @Test
    void S1_uncertainClocksHideAnOverlapWithinThem() {
        story.asks("a", 0)
                .blurred(8)
                .granted(10, 1)
                .checks(10, true)
                .checks(30, true)
                .released(31, 32, RELEASED);
        story.asks("b", 5).blurred(8).granted(22, 2).checks(22, true).released(60, 61, RELEASED);
        story.isGood();
    }

    @Test
    void S1_uncertainClocksDoNotHideALongOverlap() {
        story.asks("a", 0)
                .blurred(8)
                .granted(10, 1)
                .checks(10, true)
                .checks(60, true)
                .released(61, 62, RELEASED);
        story.asks("b", 5).blurred(8).granted(22, 2).checks(22, true).released(80, 81, RELEASED);
        story.breaks("S1", "S5");
    }

    @Test
    void S1_aReleaseUnderWayWhenTheNextIsGranted_isGood() {
        story.asks("a", 0).granted(10, 1).checks(10, true).released(20, 40, RELEASED);
        story.asks("b", 5).granted(25, 2).checks(25, true).released(50, 51, RELEASED);
        story.isGood();
    }

    /** The reply to b's ask came so late that b's first grant was over; the token tells which was first. */
    @Test
    void S1_aLateReplyIsNoSecondHolder() {
        story.asks("b", 0).granted(40, 1).checks(40, false).released(41, 42, LOST);
        story.asks("a", 5).granted(10, 2).checks(10, true).checks(60, true).released(61, 62, RELEASED);
        story.isGood();
    }

    @Test
    void S2_aBeliefAfterAPause() {
        story.asks("a", 0)
                .granted(10, 1)
                .checks(10, true)
                .checks(5020, true)
                .told(5030)
                .released(5040, 5041, LOST);
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        story.asks("b", 5).granted(3000, 2).checks(3000, true).released(6000, 6001, RELEASED);
        story.breaks("S2");
    }

    @Test
    void S2_aLookThatWasUnderWayDuringThePause_isGood() {
        story.asks("a", 0).granted(10, 1).checks(14, 5020, true).told(5030).released(5040, 5041, LOST);
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        story.asks("b", 5).granted(3000, 2).checks(3000, true).released(6000, 6001, RELEASED);
        story.isGood();
    }

    @Test
    void S5_releasedAfterTheNextWasGranted() {
        story.asks("a", 0).granted(10, 1).checks(10, true).released(30, 31, RELEASED);
        story.asks("b", 5).granted(20, 2).checks(20, true).released(50, 51, RELEASED);
        story.breaks("S5");
    }

    @Test
    void S5_lostOrUnknownAfterTheNextWasGranted_isGood() {
        story.asks("a", 0).granted(10, 1).checks(10, true).released(30, 31, UNKNOWN);
        story.asks("b", 5).granted(20, 2).checks(20, true).checks(39, false).released(40, 41, LOST);
        story.asks("c", 5).granted(35, 3).checks(36, true).released(50, 51, RELEASED);
        story.isGood();
    }

    @Test
    void S6_heldAgainAfterItWasLost() {
        story.asks("a", 0).granted(10, 1).checks(20, false).checks(30, true).released(40, 41, LOST);
        story.breaks("S6");
    }

    @Test
    void S6_heldAgainAfterItsRelease() {
        story.held("a", 1, 10, 20).checks(30, true);
        story.breaks("S6");
    }

    @Test
    void S6_twoThreadsThatLookAtOnce_areGood() {
        story.asks("a", 0)
                .granted(10, 1)
                .checks(20, 30, false)
                .checks(25, 35, true)
                .released(40, 41, LOST);
        story.isGood();
    }
}
