// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.zookeeper.queue.ContenderNodeStateMachine.Reaction;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * Tests when the deletion of predecessors grants the lock, and when the queue must be listed again.
 *
 * <p>Rule S01.
 */
class ContenderNodeStateMachineTest {
    private static final String SECOND = "/locks/a/further-lock-0000000000";
    private static final String AHEAD = "/locks/a/other-lock-0000000001";
    private static final String OWN = "/locks/a/own-lock-0000000002";
    private static final long CONNECTION = 1;
    private static final long NEXT = CONNECTION + 2;

    private final ContenderNodeStateMachine state = new ContenderNodeStateMachine();

    @BeforeEach
    void createNode() {
        assertThat(state.beginCreate()).isTrue();
        state.markCreated(OWN, 42);
    }

    private void listed(boolean further, String... nearest) {
        assertThat(state.setPredecessors(List.of(nearest), further)).isEmpty();
    }

    private void watchAll(long connection) {
        state.ownNodeWatched(connection);
        for (String path : state.unwatchedPredecessors(connection)) {
            state.predecessorWatched(path, connection, false);
        }
        assertThat(state.areAllWatchesValid(connection)).isTrue();
    }

    @Nested
    class WithOnePredecessor {
        @BeforeEach
        void queueSecond() {
            listed(false, AHEAD);
            watchAll(CONNECTION);
        }

        @Test
        void theDeletionOfTheOnlyPredecessorIsTheGrant() {
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isTrue();
            assertThat(state.grant()).hasValue(42);
            assertThat(state.isHeadOfQueue()).isFalse();
        }

        /** The event arrives on another thread, between the check for the head of the queue and the grant. */
        @Test
        void S07_thereIsNoGrantIfTheNodeWasDeletedBeforeTheGrantWasCollected() {
            state.nodeDeleted(AHEAD, CONNECTION, false);
            state.nodeDeleted(OWN, CONNECTION, false);
            assertThat(state.grant()).isEmpty();
            assertThat(state.isGranted()).isFalse();
        }

        @Test
        void aValidWatchIsNotRegisteredAgain() {
            listed(false, AHEAD);
            assertThat(state.unwatchedPredecessors(CONNECTION)).isEmpty();
            assertThat(state.unwatchedPredecessors(NEXT)).containsExactly(AHEAD);
            state.markUnwatched(AHEAD);
            assertThat(state.unwatchedPredecessors(CONNECTION)).containsExactly(AHEAD);
            assertThat(state.areAllWatchesValid(CONNECTION)).isFalse();
        }

        @Test
        void aDeletionReportedAfterAReconnectIsNoGrant() {
            assertThat(state.nodeDeleted(AHEAD, NEXT, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isFalse();
        }

        @Test
        void aDeletionReportedAfterAReconnectIsTheGrantOnceTheOwnNodeIsKnownToExist() {
            state.nodeDeleted(AHEAD, NEXT, false);
            state.ownNodeWatched(NEXT);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void aDeletionAfterThatOfTheOwnNodeIsNoGrant() {
            assertThat(state.nodeDeleted(OWN, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isFalse();
            assertThat(state.isDeleted()).isTrue();
        }

        @Test
        void aDeletionWithoutAWatchOnTheOwnNodeIsNoGrant() {
            state.markUnwatched(OWN);
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isFalse();
        }

        @Test
        void theDeletionOfAnotherNodeIsIgnored() {
            assertThat(state.nodeDeleted(SECOND, CONNECTION, false)).isEqualTo(Reaction.NONE);
            assertThat(state.isHeadOfQueue()).isFalse();
        }
    }

    /** With two predecessors and no further ones, no list is needed any more, in whatever order the two are deleted. */
    @Nested
    class WithTwoPredecessors {
        @BeforeEach
        void queueThird() {
            listed(false, SECOND, AHEAD);
            watchAll(CONNECTION);
        }

        @Test
        void S11_onlyTheDeletionOfBothIsTheGrant() {
            assertThat(state.nodeDeleted(SECOND, CONNECTION, false)).isEqualTo(Reaction.NONE);
            assertThat(state.isHeadOfQueue()).isFalse();
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void S12_aPredecessorThatWithdrawsIsSkipped() {
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.NONE);
            assertThat(state.nodeDeleted(SECOND, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void oneDeletionBeforeAReconnectAndOneAfterItAreTheGrant() {
            state.nodeDeleted(SECOND, CONNECTION, false);
            assertThat(state.unwatchedPredecessors(NEXT)).containsExactly(AHEAD);
            watchAll(NEXT);
            assertThat(state.nodeDeleted(AHEAD, NEXT, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void aDeletionOfTheOwnNodeBetweenTheTwoPreventsTheGrant() {
            state.nodeDeleted(SECOND, CONNECTION, false);
            assertThat(state.nodeDeleted(OWN, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            state.nodeDeleted(AHEAD, CONNECTION, false);
            assertThat(state.isHeadOfQueue()).isFalse();
        }
    }

    /** In a deep queue the deletion of the second-nearest predecessor triggers a list, before the nearest one is deleted. */
    @Nested
    class InADeepQueue {
        @BeforeEach
        void queueFarBack() {
            listed(true, SECOND, AHEAD);
            watchAll(CONNECTION);
            assertThat(state.shouldListAgain()).isFalse();
        }

        @Test
        void S11_afterTheListTheNextDeletionIsTheGrant() {
            assertThat(state.nodeDeleted(SECOND, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.shouldListAgain()).isTrue();
            assertThat(state.areAllWatchesValid(CONNECTION))
                    .as("a list needs no sync")
                    .isTrue();
            listed(false, AHEAD);
            assertThat(state.unwatchedPredecessors(CONNECTION)).isEmpty();
            assertThat(state.shouldListAgain()).isFalse();
            state.nodeDeleted(AHEAD, CONNECTION, false);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void theDeletionOfBothBeforeTheListIsNoGrant() {
            assertThat(state.nodeDeleted(SECOND, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isFalse();
        }

        /**
         * The list was on its way to another thread when the events arrived, so it shows nodes whose deletion is already known.
         */
        @Test
        void aListThatIsOlderThanAnEventDelaysTheGrantUntilAllItsNodesAreKnownToBeDeleted() {
            state.nodeDeleted(SECOND, CONNECTION, false);
            state.nodeDeleted(AHEAD, CONNECTION, false);
            listed(false, SECOND, AHEAD);
            assertThat(state.unwatchedPredecessors(CONNECTION)).containsExactlyInAnyOrder(SECOND, AHEAD);
            state.predecessorMissing(SECOND, CONNECTION);
            assertThat(state.isHeadOfQueue()).isFalse();
            state.predecessorMissing(AHEAD, CONNECTION);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void aPredecessorThatWithdrewIsForgotten() {
            assertThat(state.setPredecessors(List.of(SECOND), false)).containsExactly(AHEAD);
            state.nodeDeleted(SECOND, CONNECTION, false);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void S10_clearReturnsAllWatchedPredecessors() {
            assertThat(state.clearPredecessors()).containsExactlyInAnyOrder(SECOND, AHEAD);
            assertThat(state.clearPredecessors()).isEmpty();
            state.ownNodeWatched(CONNECTION);
            assertThat(state.isHeadOfQueue()).isFalse();
        }
    }

    /** The server deletes all nodes of a session in one step, and reports the deletions in any order. */
    @Nested
    class WithAPredecessorOfTheSameSession {
        @BeforeEach
        void queueThird() {
            listed(false, SECOND, AHEAD);
            watchAll(CONNECTION);
            state.predecessorWatched(AHEAD, CONNECTION, true);
            assertThat(state.nodeDeleted(SECOND, CONNECTION, false)).isEqualTo(Reaction.NONE);
        }

        @Test
        void S01_aDeletionWithoutReleaseRequiresAList() {
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isFalse();
            assertThat(state.shouldListAgain()).isTrue();
            state.ownNodeWatched(CONNECTION);
            assertThat(state.isHeadOfQueue()).as("only a list can show this").isFalse();
        }

        @Test
        void S11_theReleaseOfThePredecessorIsTheGrant() {
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, true)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isTrue();
        }

        @Test
        void S01_anUnwatchedPredecessorCountsAsOneOfTheSameSession() {
            state.markUnwatched(AHEAD);
            assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
            assertThat(state.isHeadOfQueue()).isFalse();
        }
    }

    @Test
    void aPredecessorThatMayNotBeWatchedCountsAsAFurtherOne() {
        listed(false, SECOND, AHEAD);
        state.predecessorUnreadable(SECOND);
        watchAll(CONNECTION);
        assertThat(state.shouldListAgain()).isFalse();
        assertThat(state.nodeDeleted(AHEAD, CONNECTION, false)).isEqualTo(Reaction.RETRY_ATTEMPT);
        assertThat(state.isHeadOfQueue()).isFalse();
        assertThat(state.shouldListAgain()).isTrue();
    }

    @Test
    void onlyTheOwnNodeIsReleasingAndOnlyAfterTheReleaseHasBegun() {
        state.grant();
        assertThat(state.isGranted()).isTrue();
        assertThat(state.isReleasing(OWN)).isFalse();
        assertThat(state.beginRelease()).isTrue();
        assertThat(state.isGranted()).isFalse();
        assertThat(state.isReleasing(OWN)).isTrue();
        assertThat(state.isReleasing(AHEAD)).isFalse();
    }

    @Test
    void aDeletionBetweenTheListAndTheWatchCountsAsAnEvent() {
        listed(false, SECOND, AHEAD);
        state.predecessorMissing(SECOND, CONNECTION);
        state.predecessorMissing(AHEAD, CONNECTION);
        assertThat(state.isHeadOfQueue())
                .as("it is not known whether the own node exists")
                .isFalse();
        state.ownNodeWatched(CONNECTION);
        assertThat(state.isHeadOfQueue()).isTrue();
    }

    @Test
    void aDeletionBetweenTheListAndTheWatchRequiresAListIfThereAreFurtherPredecessors() {
        listed(true, SECOND, AHEAD);
        state.ownNodeWatched(CONNECTION);
        state.predecessorMissing(SECOND, CONNECTION);
        assertThat(state.shouldListAgain()).isTrue();
        state.predecessorMissing(AHEAD, CONNECTION);
        assertThat(state.isHeadOfQueue()).isFalse();
    }

    @Test
    void withoutAListTheNodeIsNotTheHead() {
        state.ownNodeWatched(CONNECTION);
        assertThat(state.isHeadOfQueue()).isFalse();
    }

    @Test
    void S07_theDeletionOfTheHoldersNodeIsReportedOnceAndNotAfterTheRelease() {
        state.grant();
        assertThat(state.nodeDeleted(OWN, CONNECTION, false)).isEqualTo(Reaction.REPORT_LOSS);
        assertThat(state.nodeDeleted(OWN, CONNECTION, false)).isEqualTo(Reaction.NONE);
        ContenderNodeStateMachine released = new ContenderNodeStateMachine();
        released.markCreated(OWN, 42);
        released.grant();
        assertThat(released.beginRelease()).isTrue();
        assertThat(released.nodeDeleted(OWN, CONNECTION, false)).isEqualTo(Reaction.NONE);
    }

    @Test
    void S08_noNodeIsCreatedOnceTheReleaseHasBegun() {

        ContenderNodeStateMachine withdrawn = new ContenderNodeStateMachine();
        assertThat(withdrawn.beginRelease()).isFalse();
        assertThat(withdrawn.beginCreate()).isFalse();
        assertThat(withdrawn.mayExist()).isFalse();
    }
}
