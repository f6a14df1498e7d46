// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.LOST;
import static io.mortise.lock.ReleaseOutcome.RELEASED;
import static io.mortise.lock.ReleaseOutcome.UNKNOWN;
import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.CUT;
import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.HEALED;
import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.KILLED;
import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.PAUSED;
import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.RESUMED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Each rule: a history that breaks it, and near misses that do not. */
class HistoryCheckerTest {
    private final Story story = new Story();

    private void isGood() {
        assertThat(story.check().violations()).isEmpty();
    }

    private void breaks(String... rules) {
        assertThat(story.check().violations()).extracting(Violation::rule).containsOnly(rules);
    }

    @Test
    void oneAfterTheOther_isGood() {
        story.held("a", 1, 10, 20);
        story.held("b", 2, 25, 30);
        story.held("b", 3, 35, 40);
        isGood();
        assertThat(story.check().grants()).isEqualTo(3);
        assertThat(story.check().handOffs()).isEqualTo(1);
    }

    @Test
    void S1_twoBelieveAtOnce() {
        story.held("a", 1, 10, 30);
        story.asks("b", 5).granted(22, 2).looks(22, true).released(40, 41, RELEASED);
        breaks("S1", "S5");
    }

    /** The older one looks once after the newer was granted, and the newer never looks. */
    @Test
    void S1_aBeliefAfterTheNextGrant() {
        story.asks("a", 0).granted(10, 1).looks(30, true).told(40).released(50, 51, LOST);
        story.asks("b", 5).granted(20, 2).released(60, 61, RELEASED);
        breaks("S1");
    }

    @Test
    void S1_twoBelieveAtOnce_withoutTokens() {
        story.asks("a", 0)
                .grantedWithoutToken(10)
                .looks(10, true)
                .looks(30, true)
                .released(31, 32, UNKNOWN);
        story.asks("b", 5).grantedWithoutToken(20).looks(20, true).released(40, 41, RELEASED);
        breaks("S1");
    }

    @Test
    void S1_uncertainClocksHideAnOverlapWithinThem() {
        story.asks("a", 0)
                .blurred(8)
                .granted(10, 1)
                .looks(10, true)
                .looks(30, true)
                .released(31, 32, RELEASED);
        story.asks("b", 5).blurred(8).granted(22, 2).looks(22, true).released(60, 61, RELEASED);
        isGood();
    }

    @Test
    void S1_uncertainClocksDoNotHideALongOverlap() {
        story.asks("a", 0)
                .blurred(8)
                .granted(10, 1)
                .looks(10, true)
                .looks(60, true)
                .released(61, 62, RELEASED);
        story.asks("b", 5).blurred(8).granted(22, 2).looks(22, true).released(80, 81, RELEASED);
        breaks("S1", "S5");
    }

    @Test
    void S1_aReleaseUnderWayWhenTheNextIsGranted_isGood() {
        story.asks("a", 0).granted(10, 1).looks(10, true).released(20, 40, RELEASED);
        story.asks("b", 5).granted(25, 2).looks(25, true).released(50, 51, RELEASED);
        isGood();
    }

    /** The reply to b's ask came so late that b's first grant was over; the token tells which was first. */
    @Test
    void S1_aLateReplyIsNoSecondHolder() {
        story.asks("b", 0).granted(40, 1).looks(40, false).released(41, 42, LOST);
        story.asks("a", 5).granted(10, 2).looks(10, true).looks(60, true).released(61, 62, RELEASED);
        isGood();
    }

    @Test
    void S2_aBeliefAfterAPause() {
        story.asks("a", 0)
                .granted(10, 1)
                .looks(10, true)
                .looks(5020, true)
                .told(5030)
                .released(5040, 5041, LOST);
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        story.asks("b", 5).granted(3000, 2).looks(3000, true).released(6000, 6001, RELEASED);
        breaks("S2");
    }

    @Test
    void S2_aLookThatWasUnderWayDuringThePause_isGood() {
        story.asks("a", 0).granted(10, 1).looks(14, 5020, true).told(5030).released(5040, 5041, LOST);
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        story.asks("b", 5).granted(3000, 2).looks(3000, true).released(6000, 6001, RELEASED);
        isGood();
    }

    @Test
    void aFrozenHolderThatWasOvertaken_isCounted_andItsWriteRefused() {
        frozenAndOvertaken().wrote(5015, 1, false).looks(5020, false);
        isGood();
        Report report = story.check();
        assertThat(report.refusedWrites()).isEqualTo(1);
        assertThat(report.losses()).isEqualTo(1);
        assertThat(report.wrongBeliefs()).singleElement().satisfies(wrong -> {
            assertThat(wrong.holder().process()).isEqualTo("a");
            assertThat(wrong.successor().process()).isEqualTo("b");
            assertThat(wrong.lasted()).isEqualTo(Duration.ofMillis(2020));
        });
    }

    @Test
    void S3_aFrozenHolderWhoseLateWriteIsAccepted() {
        frozenAndOvertaken().wrote(5015, 1, true).looks(5020, false);
        breaks("S3");
    }

    private Story.Teller frozenAndOvertaken() {
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        story.asks("b", 5)
                .granted(3000, 2)
                .looks(3000, true)
                .wrote(3001, 2, true)
                .released(6000, 6001, RELEASED);
        return story.asks("a", 0)
                .granted(10, 1)
                .looks(10, true)
                .wrote(11, 1, true)
                .told(5030)
                .released(5040, 5041, LOST);
    }

    @Test
    void aFrozenHolderThatKeptItsLease_isNotCounted() {
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 500);
        story.held("a", 1, 10, 600);
        story.asks("b", 5).granted(620, 2).looks(620, true).released(700, 701, RELEASED);
        isGood();
        assertThat(story.check().wrongBeliefs()).isEmpty();
    }

    @Test
    void S3_aTokenGivenTwice() {
        story.held("a", 1, 10, 20);
        story.held("b", 1, 30, 40);
        breaks("S3");
    }

    @Test
    void S3_aTokenBelowThatOfAnEarlierGrant() {
        story.held("a", 7, 10, 20);
        story.held("b", 6, 30, 40);
        breaks("S3");
    }

    /** Both asked at the same time, so only what they believed tells the order. */
    @Test
    void S3_aTokenBelowThatOfAnEarlierBelief() {
        story.held("a", 7, 10, 20);
        story.asks("b", 5).granted(30, 6).looks(30, true).looks(40, true).released(41, 42, RELEASED);
        breaks("S3");
    }

    @Test
    void S3_aHigherTokenGrantedFirstByUncertainClocks_isGood() {
        story.held("a", 7, 10, 20);
        story.asks("b", 5).blurred(20).granted(25, 6).looks(25, true).released(28, 29, RELEASED);
        isGood();
    }

    @Test
    void S3_aWriteRefusedThoughNoneHadAHigherToken() {
        story.held("a", 1, 10, 20).wrote(15, 1, false);
        breaks("S3");
    }

    @Test
    void S5_releasedAfterTheNextWasGranted() {
        story.asks("a", 0).granted(10, 1).looks(10, true).released(30, 31, RELEASED);
        story.asks("b", 5).granted(20, 2).looks(20, true).released(50, 51, RELEASED);
        breaks("S5");
    }

    @Test
    void S5_lostOrUnknownAfterTheNextWasGranted_isGood() {
        story.asks("a", 0).granted(10, 1).looks(10, true).released(30, 31, UNKNOWN);
        story.asks("b", 5).granted(20, 2).looks(20, true).looks(39, false).released(40, 41, LOST);
        story.asks("c", 5).granted(35, 3).looks(36, true).released(50, 51, RELEASED);
        isGood();
    }

    @Test
    void S6_heldAgainAfterItWasLost() {
        story.asks("a", 0).granted(10, 1).looks(20, false).looks(30, true).released(40, 41, LOST);
        breaks("S6");
    }

    @Test
    void S6_heldAgainAfterItsRelease() {
        story.held("a", 1, 10, 20).looks(30, true);
        breaks("S6");
    }

    @Test
    void S6_twoThreadsThatLookAtOnce_areGood() {
        story.asks("a", 0)
                .granted(10, 1)
                .looks(20, 30, false)
                .looks(25, 35, true)
                .released(40, 41, LOST);
        isGood();
    }

    @Test
    void S7_neverTold() {
        story.asks("a", 0).granted(10, 1).looks(10, true);
        story.asks("b", 5).granted(20, 2).looks(20, true).released(900, 901, RELEASED);
        breaks("S7");
    }

    @Test
    void S7_toldTooLate() {
        story.asks("a", 0).granted(10, 1).looks(10, true).told(800).released(801, 802, LOST);
        story.asks("b", 5).granted(20, 2).looks(20, true).released(900, 901, RELEASED);
        breaks("S7");
    }

    @Test
    void S7_toldByABusyExecutor_isGood() {
        story.asks("a", 0).granted(10, 1).looks(10, true).told(400).released(801, 802, LOST);
        story.asks("b", 5).granted(20, 2).looks(20, true).released(900, 901, RELEASED);
        isGood();
    }

    @Test
    void S7_aBrokenLineExcusesNothing() {
        story.disturbed("a", CUT, 15).disturbed("a", HEALED, 4000);
        story.asks("a", 0).granted(10, 1).looks(10, true).told(3900).released(4100, 4101, LOST);
        story.asks("b", 5).granted(3000, 2).looks(3000, true).released(4200, 4201, RELEASED);
        breaks("S7");
    }

    @Test
    void S7_theDeadAndTheFrozenHearNothing() {
        story.disturbed("a", KILLED, 15).disturbed("b", PAUSED, 3015);
        story.asks("a", 0).granted(10, 1).looks(10, true);
        story.asks("b", 5).granted(3000, 2).looks(3000, true);
        story.asks("c", 5).granted(6000, 3).looks(6000, true).released(9000, 9001, RELEASED);
        isGood();
        assertThat(story.check().wrongBeliefs()).hasSize(1);
    }

    @Test
    void S7_aFrozenHolderThatIsNeverToldAfterwards() {
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 4000);
        story.asks("a", 0).granted(10, 1).looks(10, true);
        story.asks("b", 5).granted(3000, 2).looks(3000, true).released(9000, 9001, RELEASED);
        breaks("S7");
    }

    @Test
    void S7_toldThoughReleased() {
        story.held("a", 1, 10, 20).told(25);
        breaks("S7");
    }

    @Test
    void S8_aForgottenGrantBlocks() {
        story.asks("a", 0, Optional.of(Duration.ofMillis(100))).gaveUp(100);
        story.asks("b", 200).granted(4000, 2).released(4010, 4011, RELEASED);
        breaks("S8");
    }

    @Test
    void S8_aForgottenGrantOfAnOutage_mayBlockForATakeover() {
        story.asks("a", 0, Optional.of(Duration.ofMillis(100))).failed(100);
        story.asks("b", 200).granted(4000, 2).released(4010, 4011, RELEASED);
        isGood();
    }

    @Test
    void S9_aWaitThatNeverEnds() {
        story.asks("a", 5);
        story.held("b", 1, 10, 20);
        breaks("S9");
    }

    @Test
    void S9_aWaitOfTheDead_isGood() {
        story.asks("a", 5);
        story.disturbed("a", KILLED, 7);
        story.held("b", 1, 10, 20);
        isGood();
    }

    @Test
    void S9_aWaitThatEndsLongAfterItsLimit() {
        story.held("b", 1, 10, 1000);
        story.asks("a", 20, Optional.of(Duration.ofMillis(100))).gaveUp(700);
        breaks("S9");
    }

    @Test
    void S9_aWaitThatWasFrozenAtItsLimit_isGood() {
        story.disturbed("a", PAUSED, 50).disturbed("a", RESUMED, 690);
        story.held("b", 1, 10, 1000);
        story.asks("a", 20, Optional.of(Duration.ofMillis(100))).gaveUp(700);
        isGood();
    }

    @Test
    void S11_aReleaseThatWakesNobody() {
        story.held("a", 1, 10, 20);
        story.asks("b", 15).granted(1100, 2).released(1110, 1111, RELEASED);
        breaks("S11");
        assertThat(story.check().longestFree()).isEqualTo(Duration.ofMillis(1079));
    }

    @Test
    void S11_aReleaseThatWakesInTime_isGood() {
        story.held("a", 1, 10, 20);
        story.asks("b", 15).granted(900, 2).released(910, 911, RELEASED);
        isGood();
    }

    @Test
    void S11_theLockOfTheDeadIsNeverFreed() {
        story.asks("a", 0).granted(10, 1).looks(10, true);
        story.disturbed("a", KILLED, 20);
        story.asks("b", 15).granted(6100, 2).released(6110, 6111, RELEASED);
        breaks("S11");
    }

    @Test
    void S11_theLockOfTheDeadIsFreedInTime() {
        story.asks("a", 0).granted(10, 1).looks(10, true);
        story.disturbed("a", KILLED, 20);
        story.asks("b", 15).granted(5900, 2).released(5910, 5911, RELEASED);
        isGood();
    }

    @Test
    void S11_theLockOfTheFrozenIsNeverFreed() {
        story.asks("a", 0).granted(10, 1).looks(10, true).looks(9010, true).released(9020, 9021, RELEASED);
        story.disturbed("a", PAUSED, 20).disturbed("a", RESUMED, 9000);
        story.asks("b", 15).granted(9030, 2).released(9031, 9032, RELEASED);
        breaks("S11");
    }

    @Test
    void S11_aFrozenWaiterDelaysNoLongerThanATakeover() {
        story.held("a", 1, 10, 100);
        story.asks("b", 15).granted(9000, 3).looks(9001, true).released(9010, 9011, RELEASED);
        story.disturbed("b", PAUSED, 20).disturbed("b", RESUMED, 8990);
        story.asks("c", 16).granted(5000, 2).looks(5000, true).released(5010, 5011, RELEASED);
        isGood();
    }

    @Test
    void S11_nobodyWaits_soItMayBeFree() {
        story.held("a", 1, 10, 20);
        story.held("b", 2, 90_000, 90_010);
        isGood();
        assertThat(story.check().longestFree()).isLessThanOrEqualTo(Duration.ofMillis(1));
    }

    @Test
    void locksAreJudgedApart() {
        Call one = new Call("a", "x", 1);
        Call two = new Call("b", "y", 1);
        List<Event> events = List.of(
                new Event.Asked(one, Span.at(1), Optional.empty()),
                new Event.Asked(two, Span.at(1), Optional.empty()),
                new Event.Granted(one, Span.at(2), OptionalLong.of(9)),
                new Event.Granted(two, Span.at(3), OptionalLong.of(8)),
                new Event.Looked(one, Span.at(4), true),
                new Event.Looked(two, Span.at(4), true));
        assertThat(new HistoryChecker(Story.BOUNDS).check(events).violations()).isEmpty();
    }

    @Test
    void eventsThatDoNotFitTogether_areRefused() {
        Call call = new Call("a", "x", 1);
        List<Event> events = List.of(new Event.Granted(call, Span.at(1), OptionalLong.of(1)));
        assertThatThrownBy(() -> new HistoryChecker(Story.BOUNDS).check(events))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("never asked");
    }
}
