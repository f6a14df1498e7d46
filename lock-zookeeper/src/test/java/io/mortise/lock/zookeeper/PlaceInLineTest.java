// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.zookeeper.PlaceInLine.News;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** S01: when the end of the node ahead is the grant, and when it only means "look again". */
class PlaceInLineTest {
    private static final String OWN = "/locks/a/own-lock-0000000001";
    private static final String AHEAD = "/locks/a/other-lock-0000000000";
    private static final long CONNECTION = 1;

    private final PlaceInLine place = new PlaceInLine();

    @BeforeEach
    void standSecond() {
        assertThat(place.creating()).isTrue();
        place.created(OWN, 42);
        assertThat(place.standBehind(AHEAD, true, CONNECTION)).isTrue();
        place.aheadArmed(AHEAD, CONNECTION);
        place.ownArmed(CONNECTION);
    }

    @Test
    void endOfTheOnlyOneAheadIsTheGrant() {
        assertThat(place.deleted(AHEAD, CONNECTION)).isEqualTo(News.LOOK);
        assertThat(place.isPushed()).isTrue();
        assertThat(place.grant()).hasValue(42);
    }

    /** The event comes between the look at what was pushed and its collection, on two threads. */
    @Test
    void S07_aGrantWhoseNodeWentBeforeItWasCollectedIsNone() {
        place.deleted(AHEAD, CONNECTION);
        place.deleted(OWN, CONNECTION);
        assertThat(place.grant()).isEmpty();
        assertThat(place.isGranted()).isFalse();
    }

    @Test
    void aWatchThatStandsIsNotArmedAgain() {
        assertThat(place.standBehind(AHEAD, true, CONNECTION)).isFalse();
        place.fired(AHEAD);
        assertThat(place.standBehind(AHEAD, true, CONNECTION)).isTrue();
        place.aheadArmed(AHEAD, CONNECTION);
        assertThat(place.standBehind(AHEAD, true, CONNECTION + 2)).isTrue();
    }

    @Test
    void replayedAfterAReconnectItIsNot() {
        assertThat(place.deleted(AHEAD, CONNECTION + 2)).isEqualTo(News.LOOK);
        assertThat(place.isPushed()).isFalse();
    }

    @Test
    void afterOurOwnNodeWasDeletedItIsNot() {
        assertThat(place.deleted(OWN, CONNECTION)).isEqualTo(News.LOOK);
        assertThat(place.deleted(AHEAD, CONNECTION)).isEqualTo(News.LOOK);
        assertThat(place.isPushed()).isFalse();
        assertThat(place.isRemoved()).isTrue();
    }

    @Test
    void withAWatchUsedUpOrOthersBetweenItIsNot() {
        place.fired(OWN);
        place.deleted(AHEAD, CONNECTION);
        assertThat(place.isPushed()).isFalse();
        place.ownArmed(CONNECTION);
        place.standBehind(AHEAD, false, CONNECTION);
        place.aheadArmed(AHEAD, CONNECTION);
        place.deleted(AHEAD, CONNECTION);
        assertThat(place.isPushed()).isFalse();
    }

    @Test
    void S07_deletedHolderIsToldOnceAndNotAfterItsRelease() {
        place.grant();
        assertThat(place.deleted(OWN, CONNECTION)).isEqualTo(News.LOST);
        assertThat(place.deleted(OWN, CONNECTION)).isEqualTo(News.NONE);
        PlaceInLine released = new PlaceInLine();
        released.created(OWN, 42);
        released.grant();
        assertThat(released.ending()).isTrue();
        assertThat(released.deleted(OWN, CONNECTION)).isEqualTo(News.NONE);
    }

    @Test
    void S08_nothingIsMadeOnceItEnds() {
        PlaceInLine withdrawn = new PlaceInLine();
        assertThat(withdrawn.ending()).isFalse();
        assertThat(withdrawn.creating()).isFalse();
        assertThat(withdrawn.mayExist()).isFalse();
    }
}
