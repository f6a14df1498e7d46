// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.zookeeper.PlaceInLine.News;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** S01: when the end of those ahead is the grant, and when it only means "look again". */
class PlaceInLineTest {
    private static final String FURTHER = "/locks/a/further-lock-0000000000";
    private static final String AHEAD = "/locks/a/other-lock-0000000001";
    private static final String OWN = "/locks/a/own-lock-0000000002";
    private static final long CONNECTION = 1;
    private static final long NEXT = CONNECTION + 2;

    private final PlaceInLine place = new PlaceInLine();

    @BeforeEach
    void madeANode() {
        assertThat(place.creating()).isTrue();
        place.created(OWN, 42);
    }

    private void listed(boolean others, String... nearest) {
        assertThat(place.standBehind(List.of(nearest), others)).isEmpty();
    }

    private void arm(long connection) {
        place.ownArmed(connection);
        for (String path : place.unarmed(connection)) {
            place.aheadArmed(path, connection, false);
        }
        assertThat(place.stands(connection)).isTrue();
    }

    @Nested
    class BehindTheHolder {
        @BeforeEach
        void standSecond() {
            listed(false, AHEAD);
            arm(CONNECTION);
        }

        @Test
        void endOfTheOnlyOneAheadIsTheGrant() {
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isTrue();
            assertThat(place.grant()).hasValue(42);
            assertThat(place.isPushed()).isFalse();
        }

        /** The event comes between the look at what was pushed and its collection, on two threads. */
        @Test
        void S07_aGrantWhoseNodeWentBeforeItWasCollectedIsNone() {
            place.deleted(AHEAD, CONNECTION, false);
            place.deleted(OWN, CONNECTION, false);
            assertThat(place.grant()).isEmpty();
            assertThat(place.isGranted()).isFalse();
        }

        @Test
        void aWatchThatStandsIsNotArmedAgain() {
            listed(false, AHEAD);
            assertThat(place.unarmed(CONNECTION)).isEmpty();
            assertThat(place.unarmed(NEXT)).containsExactly(AHEAD);
            place.fired(AHEAD);
            assertThat(place.unarmed(CONNECTION)).containsExactly(AHEAD);
            assertThat(place.stands(CONNECTION)).isFalse();
        }

        @Test
        void replayedAfterAReconnectItIsNot() {
            assertThat(place.deleted(AHEAD, NEXT, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isFalse();
        }

        @Test
        void replayedAfterAReconnectItIsOnceOurNodeIsSeenToBeThereStill() {
            place.deleted(AHEAD, NEXT, false);
            place.ownArmed(NEXT);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void afterOurOwnNodeWasDeletedItIsNot() {
            assertThat(place.deleted(OWN, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isFalse();
            assertThat(place.isRemoved()).isTrue();
        }

        @Test
        void withOurOwnWatchUsedUpItIsNot() {
            place.fired(OWN);
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isFalse();
        }

        @Test
        void someoneElsesEndIsNoNews() {
            assertThat(place.deleted(FURTHER, CONNECTION, false)).isEqualTo(News.NONE);
            assertThat(place.isPushed()).isFalse();
        }
    }

    /** Two ahead, and nobody before them: no list is needed any more, in whatever order they go. */
    @Nested
    class BehindTwo {
        @BeforeEach
        void standThird() {
            listed(false, FURTHER, AHEAD);
            arm(CONNECTION);
        }

        @Test
        void S11_endOfBothIsTheGrantAndOfOneIsNoNews() {
            assertThat(place.deleted(FURTHER, CONNECTION, false)).isEqualTo(News.NONE);
            assertThat(place.isPushed()).isFalse();
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void S12_oneThatWithdrawsIsSkipped() {
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.NONE);
            assertThat(place.deleted(FURTHER, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void oneGoneBeforeAReconnectAndTheOtherAfterIt() {
            place.deleted(FURTHER, CONNECTION, false);
            assertThat(place.unarmed(NEXT)).containsExactly(AHEAD);
            arm(NEXT);
            assertThat(place.deleted(AHEAD, NEXT, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void ourOwnDeletionBetweenTheTwoIsNoGrant() {
            place.deleted(FURTHER, CONNECTION, false);
            assertThat(place.deleted(OWN, CONNECTION, false)).isEqualTo(News.LOOK);
            place.deleted(AHEAD, CONNECTION, false);
            assertThat(place.isPushed()).isFalse();
        }
    }

    /** In a deep queue the one two ahead gives the sign to look, while the one ahead holds the lock. */
    @Nested
    class InADeepQueue {
        @BeforeEach
        void standFarBack() {
            listed(true, FURTHER, AHEAD);
            arm(CONNECTION);
            assertThat(place.shouldLook()).isFalse();
        }

        @Test
        void S11_whatTheListThenShowsMakesTheNextEndTheGrant() {
            assertThat(place.deleted(FURTHER, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.shouldLook()).isTrue();
            assertThat(place.stands(CONNECTION)).as("a list needs no sync").isTrue();
            listed(false, AHEAD);
            assertThat(place.unarmed(CONNECTION)).isEmpty();
            assertThat(place.shouldLook()).isFalse();
            place.deleted(AHEAD, CONNECTION, false);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void bothGoneBeforeTheListIsNoGrant() {
            assertThat(place.deleted(FURTHER, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isFalse();
        }

        /** The answer was on its way to another thread meanwhile: it shows who has been heard of as gone. */
        @Test
        void aListThatIsOlderThanAnEventMakesNoGrantBeforeEachIsGone() {
            place.deleted(FURTHER, CONNECTION, false);
            place.deleted(AHEAD, CONNECTION, false);
            listed(false, FURTHER, AHEAD);
            assertThat(place.unarmed(CONNECTION)).containsExactlyInAnyOrder(FURTHER, AHEAD);
            place.aheadAbsent(FURTHER, CONNECTION);
            assertThat(place.isPushed()).isFalse();
            place.aheadAbsent(AHEAD, CONNECTION);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void oneThatWithdrewIsForgotten() {
            assertThat(place.standBehind(List.of(FURTHER), false)).containsExactly(AHEAD);
            place.deleted(FURTHER, CONNECTION, false);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void S10_leavingNamesAllThatIsWatched() {
            assertThat(place.leaveAhead()).containsExactlyInAnyOrder(FURTHER, AHEAD);
            assertThat(place.leaveAhead()).isEmpty();
            place.ownArmed(CONNECTION);
            assertThat(place.isPushed()).isFalse();
        }
    }

    /** Those ahead are of our own session, and the server deletes all of one session in one step, in any order. */
    @Nested
    class BehindOneOfOurSession {
        @BeforeEach
        void standThird() {
            listed(false, FURTHER, AHEAD);
            arm(CONNECTION);
            place.aheadArmed(AHEAD, CONNECTION, true);
            assertThat(place.deleted(FURTHER, CONNECTION, false)).isEqualTo(News.NONE);
        }

        @Test
        void S01_itsEndMeansLookUnlessItWasGivenUp() {
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isFalse();
            assertThat(place.shouldLook()).isTrue();
            place.ownArmed(CONNECTION);
            assertThat(place.isPushed()).as("only a list tells").isFalse();
        }

        @Test
        void S11_itsReleaseIsTheGrant() {
            assertThat(place.deleted(AHEAD, CONNECTION, true)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isTrue();
        }

        @Test
        void S01_whoseItIsIsNotKnownBeforeItsWatchStands() {
            place.fired(AHEAD);
            assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
            assertThat(place.isPushed()).isFalse();
        }
    }

    @Test
    void oneThatMayNotBeWatchedIsOneOfTheOthers() {
        listed(false, FURTHER, AHEAD);
        place.aheadUnreadable(FURTHER);
        arm(CONNECTION);
        assertThat(place.shouldLook()).isFalse();
        assertThat(place.deleted(AHEAD, CONNECTION, false)).isEqualTo(News.LOOK);
        assertThat(place.isPushed()).isFalse();
        assertThat(place.shouldLook()).isTrue();
    }

    @Test
    void onlyAnOwnerThatEndsGaveItsNodeUp() {
        place.grant();
        assertThat(place.isGranted()).isTrue();
        assertThat(place.gaveUp(OWN)).isFalse();
        assertThat(place.ending()).isTrue();
        assertThat(place.isGranted()).isFalse();
        assertThat(place.gaveUp(OWN)).isTrue();
        assertThat(place.gaveUp(AHEAD)).isFalse();
    }

    @Test
    void goneBetweenTheListAndTheWatchIsAsGoodAsAnEvent() {
        listed(false, FURTHER, AHEAD);
        place.aheadAbsent(FURTHER, CONNECTION);
        place.aheadAbsent(AHEAD, CONNECTION);
        assertThat(place.isPushed())
                .as("whether our own node is there is not known")
                .isFalse();
        place.ownArmed(CONNECTION);
        assertThat(place.isPushed()).isTrue();
    }

    @Test
    void goneBetweenTheListAndTheWatchWithOthersAheadMeansLook() {
        listed(true, FURTHER, AHEAD);
        place.ownArmed(CONNECTION);
        place.aheadAbsent(FURTHER, CONNECTION);
        assertThat(place.shouldLook()).isTrue();
        place.aheadAbsent(AHEAD, CONNECTION);
        assertThat(place.isPushed()).isFalse();
    }

    @Test
    void whoNeverSawAListIsNotFirst() {
        place.ownArmed(CONNECTION);
        assertThat(place.isPushed()).isFalse();
    }

    @Test
    void S07_deletedHolderIsToldOnceAndNotAfterItsRelease() {
        place.grant();
        assertThat(place.deleted(OWN, CONNECTION, false)).isEqualTo(News.LOST);
        assertThat(place.deleted(OWN, CONNECTION, false)).isEqualTo(News.NONE);
        PlaceInLine released = new PlaceInLine();
        released.created(OWN, 42);
        released.grant();
        assertThat(released.ending()).isTrue();
        assertThat(released.deleted(OWN, CONNECTION, false)).isEqualTo(News.NONE);
    }

    @Test
    void S08_nothingIsMadeOnceItEnds() {
        PlaceInLine withdrawn = new PlaceInLine();
        assertThat(withdrawn.ending()).isFalse();
        assertThat(withdrawn.creating()).isFalse();
        assertThat(withdrawn.mayExist()).isFalse();
    }
}
