// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.LOST;
import static io.mortise.lock.ReleaseOutcome.RELEASED;
import static io.mortise.lock.ReleaseOutcome.UNKNOWN;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.PAUSED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.RESUMED;

import org.junit.jupiter.api.Test;

/**
 * Tests that the checker finds overlapping and resurrected leases, and accepts near misses.
 *
 * <p>Rules S1, S2, S5, S6.
 */
class ExclusionCheckTest {
    private final HandwrittenHistory history = new HandwrittenHistory();

    @Test
    void S1_twoLeasesHeldAtOnce() {
        history.held("a", 1, 10, 30);
        history.acquires("b", 5).granted(22, 2).checks(22, true).released(40, 41, RELEASED);
        history.breaks("S1", "S5");
    }

    /** The older lease is checked after the newer grant, and the newer lease is never checked. */
    @Test
    void S1_heldAfterTheNextGrant() {
        history.acquires("a", 0).granted(10, 1).checks(30, true).lost(40).released(50, 51, LOST);
        history.acquires("b", 5).granted(20, 2).released(60, 61, RELEASED);
        history.breaks("S1");
    }

    @Test
    void S1_twoLeasesHeldAtOnce_withoutTokens() {
        history.acquires("a", 0)
                .grantedWithoutToken(10)
                .checks(10, true)
                .checks(30, true)
                .released(31, 32, UNKNOWN);
        history.acquires("b", 5).grantedWithoutToken(20).checks(20, true).released(40, 41, RELEASED);
        history.breaks("S1");
    }

    @Test
    void S1_uncertainClocksHideAnOverlapWithinThem() {
        history.acquires("a", 0)
                .withUncertainty(8)
                .granted(10, 1)
                .checks(10, true)
                .checks(30, true)
                .released(31, 32, RELEASED);
        history.acquires("b", 5)
                .withUncertainty(8)
                .granted(22, 2)
                .checks(22, true)
                .released(60, 61, RELEASED);
        history.isGood();
    }

    @Test
    void S1_uncertainClocksDoNotHideALongOverlap() {
        history.acquires("a", 0)
                .withUncertainty(8)
                .granted(10, 1)
                .checks(10, true)
                .checks(60, true)
                .released(61, 62, RELEASED);
        history.acquires("b", 5)
                .withUncertainty(8)
                .granted(22, 2)
                .checks(22, true)
                .released(80, 81, RELEASED);
        history.breaks("S1", "S5");
    }

    @Test
    void S1_aReleasePendingWhenTheNextIsGranted_isGood() {
        history.acquires("a", 0).granted(10, 1).checks(10, true).released(20, 40, RELEASED);
        history.acquires("b", 5).granted(25, 2).checks(25, true).released(50, 51, RELEASED);
        history.isGood();
    }

    /** The reply to b's request came so late that b's grant had ended; the tokens show which grant was first. */
    @Test
    void S1_aLateReplyIsNoSecondHolder() {
        history.acquires("b", 0).granted(40, 1).checks(40, false).released(41, 42, LOST);
        history.acquires("a", 5)
                .granted(10, 2)
                .checks(10, true)
                .checks(60, true)
                .released(61, 62, RELEASED);
        history.isGood();
    }

    @Test
    void S2_heldAfterAPause() {
        history.acquires("a", 0)
                .granted(10, 1)
                .checks(10, true)
                .checks(5020, true)
                .lost(5030)
                .released(5040, 5041, LOST);
        history.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        history.acquires("b", 5).granted(3000, 2).checks(3000, true).released(6000, 6001, RELEASED);
        history.breaks("S2");
    }

    @Test
    void S2_aCheckThatWasPendingDuringThePause_isGood() {
        history.acquires("a", 0)
                .granted(10, 1)
                .checks(14, 5020, true)
                .lost(5030)
                .released(5040, 5041, LOST);
        history.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        history.acquires("b", 5).granted(3000, 2).checks(3000, true).released(6000, 6001, RELEASED);
        history.isGood();
    }

    @Test
    void S5_releasedAfterTheNextWasGranted() {
        history.acquires("a", 0).granted(10, 1).checks(10, true).released(30, 31, RELEASED);
        history.acquires("b", 5).granted(20, 2).checks(20, true).released(50, 51, RELEASED);
        history.breaks("S5");
    }

    @Test
    void S5_lostOrUnknownAfterTheNextWasGranted_isGood() {
        history.acquires("a", 0).granted(10, 1).checks(10, true).released(30, 31, UNKNOWN);
        history.acquires("b", 5)
                .granted(20, 2)
                .checks(20, true)
                .checks(39, false)
                .released(40, 41, LOST);
        history.acquires("c", 5).granted(35, 3).checks(36, true).released(50, 51, RELEASED);
        history.isGood();
    }

    @Test
    void S6_heldAgainAfterItWasLost() {
        history.acquires("a", 0)
                .granted(10, 1)
                .checks(20, false)
                .checks(30, true)
                .released(40, 41, LOST);
        history.breaks("S6");
    }

    @Test
    void S6_heldAgainAfterItsRelease() {
        history.held("a", 1, 10, 20).checks(30, true);
        history.breaks("S6");
    }

    @Test
    void S6_twoConcurrentChecks_areGood() {
        history.acquires("a", 0)
                .granted(10, 1)
                .checks(20, 30, false)
                .checks(25, 35, true)
                .released(40, 41, LOST);
        history.isGood();
    }
}
