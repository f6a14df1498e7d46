// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailAttempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailEnd;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailNumbersUsedUp;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Listen;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.LogOrphan;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportGranted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.RetryWatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendList;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRemoval;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unlisten;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unwatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Watch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Abandon;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Attempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.CreateFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Created;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.End;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ListFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Listed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NoSession;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeChanged;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeDeleted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ReadFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Reconnected;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalDue;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Removed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.SessionEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.SessionReady;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchDue;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Watched;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Deleted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Gone;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Head;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Holding;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Idle;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Phase;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Queued;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Unremoved;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests the protocol of a contender event by event. The tests start on connection 1, and 3 is the next one. */
class ZooKeeperContenderStateTest {
    private static final String LOCK = "/locks/a";
    private static final String FARTHEST = LOCK + "/w-lock-0000000000";
    private static final String SECOND = LOCK + "/x-lock-0000000001";
    private static final String NEXT = LOCK + "/y-lock-0000000002";
    private static final String OWN = LOCK + "/own-lock-0000000003";
    private static final long TOKEN = 42;

    private final Throwable lost = KeeperException.create(Code.CONNECTIONLOSS);
    private final Throwable forbidden = KeeperException.create(Code.NOAUTH);
    private final Throwable missing = KeeperException.create(Code.NONODE);
    private final Throwable expired = KeeperException.create(Code.SESSIONEXPIRED);
    private ZooKeeperContenderState state = ZooKeeperContenderState.initial(LOCK, "own-lock-", true);

    /** Takes one event, and asserts what is to be done. */
    private void on(ZooKeeperContenderEvent event, ZooKeeperContenderEffect... effects) {
        ZooKeeperContenderState.Step step = ZooKeeperContenderState.on(state, event);
        assertThat(step.effects()).as("%s in %s", event, state).containsExactly(effects);
        state = step.state();
    }

    /** Takes events whose effects are of no interest. */
    private void after(ZooKeeperContenderEvent... events) {
        for (ZooKeeperContenderEvent event : events) {
            state = ZooKeeperContenderState.on(state, event).state();
        }
    }

    private void assertPhase(Class<? extends Phase> phase) {
        assertThat(state.phase()).isInstanceOf(phase);
    }

    private static Attempt attempt() {
        return new Attempt();
    }

    private static Created created() {
        return new Created(OWN, TOKEN);
    }

    private static Listed listed(long connection, String... paths) {
        return new Listed(
                Stream.of(paths).map(path -> path.substring(LOCK.length() + 1)).toList(), connection);
    }

    private static Watched watched(String path, long connection) {
        return new Watched(path, connection, false);
    }

    private static NodeDeleted deleted(String path, long connection) {
        return new NodeDeleted(path, connection, false);
    }

    private void create() {
        after(attempt(), new SessionReady(), created());
    }

    /** Brings the contender into the queue, with all watches on connection 1. */
    private void queue(String... ahead) {
        create();
        after(listed(1, Stream.concat(Stream.of(ahead), Stream.of(OWN)).toArray(String[]::new)));
        after(watched(OWN, 1));
        Stream.of(ahead).skip(Math.max(0, ahead.length - 2)).forEach(path -> after(watched(path, 1)));
        assertPhase(Queued.class);
    }

    private void hold() {
        create();
        after(listed(1, OWN));
    }

    @Test
    void aFreeLockTakesOneRoundTripAndItsReleaseAnother() {
        on(attempt(), Plain.AWAIT_SESSION);
        on(new SessionReady(), Plain.SEND_CREATE);
        on(created(), new Listen(OWN));
        on(listed(1, OWN), Plain.DEFER_WATCH, new ReportGranted(TOKEN));
        on(new End(), new SendRemoval(OWN));
        on(new Removed(true), new Unlisten(OWN), Plain.DEREGISTER, Plain.LOCK_NODE_UNUSED, new ReportEnded(true));
        assertPhase(Gone.class);
    }

    @Test
    void withoutASessionTheAttemptFailsAndTheNextUsesAnother() {
        after(attempt());
        on(new NoSession(lost), new FailAttempt(lost));
        on(attempt(), Plain.AWAIT_SESSION);
        on(new End(), new ReportEnded(false));
        on(new SessionReady());
    }

    @Test
    void S10_anAttemptThatDoesNotWaitWatchesNothing() {
        state = ZooKeeperContenderState.initial(LOCK, "own-lock-", false);
        create();
        on(listed(1, NEXT, OWN), Plain.REPORT_WAITING);
        on(new End(), new SendRemoval(OWN));
    }

    @Nested
    class Create {
        @BeforeEach
        void send() {
            after(attempt(), new SessionReady());
        }

        @Test
        void withoutALockNodeBothAreCreatedAtOnce() {
            on(new CreateFailed(missing), Plain.SEND_CREATE_WITH_LOCK_NODE);
            on(created(), new Listen(OWN), new SendList(false));
            on(listed(1, OWN), Plain.DEFER_WATCH, new ReportGranted(TOKEN));
        }

        @Test
        void aLockNodeThatAnotherCreatesMeanwhileIsUsed() {
            on(new CreateFailed(missing), Plain.SEND_CREATE_WITH_LOCK_NODE);
            on(new CreateFailed(KeeperException.create(Code.NODEEXISTS)), Plain.SEND_CREATE);
        }

        @Test
        void S15_aQueueThatNeverRestsFailsTheAttempt() {
            for (int i = 1; i < ZooKeeperContenderState.MOST_ROUNDS; i++) {
                after(new CreateFailed(missing), new CreateFailed(KeeperException.create(Code.NODEEXISTS)));
            }
            after(new CreateFailed(missing));
            on(new CreateFailed(KeeperException.create(Code.NODEEXISTS)), Plain.DEREGISTER, Plain.FAIL_RESTLESS);
        }

        @Test
        void S14_aRefusedCreateLeavesNothing() {
            on(new CreateFailed(forbidden), Plain.DEREGISTER, new FailAttempt(forbidden));
            assertPhase(Idle.class);
            on(new End(), new ReportEnded(false));
        }

        @Test
        void S08_aLostCreateIsFoundByTheNextAttempt() {
            on(new CreateFailed(lost), new FailAttempt(lost));
            on(attempt(), new SendList(true));
            on(listed(3, NEXT, OWN), new SendRead(OWN));
            on(new NodeRead(TOKEN), new Listen(OWN), new SendList(false));
            on(listed(3, OWN), Plain.DEFER_WATCH, new ReportGranted(TOKEN));
        }

        /** The client has thrown an exception after it had sent the create. */
        @Test
        void S08_aCreateThatFailedInTheClientMayHaveMadeANode() {
            Throwable thrown = new IllegalStateException("thrown by the client");
            on(new CreateFailed(thrown), new FailAttempt(thrown));
            on(created());
            on(new End(), new SendList(true));
            on(listed(1, OWN), new SendRemoval(OWN));
        }

        /** The end needs no request then, so a client that rejects all of them cannot cost the session. */
        @Test
        void S08_aCreateWhoseArgumentsTheClientRejectsMadeNoNode() {
            Throwable thrown = new IllegalArgumentException("Invalid path string");
            on(new CreateFailed(thrown), Plain.DEREGISTER, new FailAttempt(thrown));
            on(new End(), new ReportEnded(false));
        }

        @Test
        void S08_aLostCreateThatTheListDoesNotShowIsRepeated() {
            after(new CreateFailed(lost), attempt());
            on(listed(3, NEXT), Plain.SEND_CREATE);
        }

        @Test
        void aNodeThatIsDeletedBeforeItIsReadIsNotUsed() {
            after(new CreateFailed(lost), attempt(), listed(3, OWN));
            on(new ReadFailed(missing), Plain.DEREGISTER, Plain.REPORT_NODE_DELETED);
            on(attempt(), Plain.REPORT_NODE_DELETED);
        }

        @Test
        void aFailedSearchIsRepeatedByTheNextAttempt() {
            after(new CreateFailed(lost), attempt());
            on(new ListFailed(lost), new FailAttempt(lost));
            on(new Reconnected(5), Plain.WAKE_WAITER);
            after(attempt(), listed(5, OWN));
            on(new ReadFailed(lost), new FailAttempt(lost));
            on(attempt(), new SendList(true));
        }

        @Test
        void S08_aWithdrawalWaitsForTheCreateAndDeletesItsNode() {
            on(new End());
            on(new End());
            on(created(), new SendRemoval(OWN));
            on(listed(1, OWN));
        }

        @Test
        void S08_aWithdrawalLooksForTheNodeOfALostCreate() {
            on(new End());
            on(new CreateFailed(lost), new SendList(true));
            on(listed(3, OWN), new SendRemoval(OWN));
        }

        @Test
        void S08_aWithdrawalEndsIfTheListShowsNoNode() {
            after(new CreateFailed(lost));
            on(new End(), new SendList(true));
            on(listed(5), Plain.DEREGISTER, Plain.LOCK_NODE_UNUSED, new ReportEnded(false));
        }

        @Test
        void S08_aWithdrawalWithoutAListIsRepeated() {
            after(new CreateFailed(lost), new End());
            on(new ListFailed(lost), new FailEnd(lost));
            on(new Abandon(), Plain.END_SESSION);
            on(new End(), new SendList(true));
        }

        /** The application's handle may still create the node. */
        @Test
        void S08_afterTheEndOfTheSessionTheNodeIsDeletedOnTheApplicationsHandle() {
            on(new SessionEnded(false), Plain.REPORT_SESSION_ENDED);
            on(created(), new SendRemoval(OWN));
            on(attempt(), Plain.REPORT_SESSION_ENDED);
        }

        @Test
        void theEndOfTheSessionEndsTheAttempt() {
            on(new SessionEnded(true), Plain.DEREGISTER, Plain.REPORT_SESSION_ENDED);
            on(new CreateFailed(expired));
            on(attempt(), Plain.REPORT_SESSION_ENDED);
            on(new End(), new ReportEnded(false));
        }
    }

    @Nested
    class WithOnePredecessor {
        @BeforeEach
        void queueSecond() {
            queue(NEXT);
        }

        @Test
        void S01_theDeletionOfTheOnlyPredecessorIsTheGrant() {
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        /** ZooKeeper's client can be configured not to register watches again, so a grant on a new connection needs its own. */
        @Test
        void S07_aGrantCollectedAfterAReconnectIsWatchedAgain() {
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(new Reconnected(3), Plain.WAKE_WAITER);
            on(attempt(), Plain.DEFER_WATCH, new ReportGranted(TOKEN)); // it had read the connection before
            on(new WatchDue(3), new Watch(OWN));
        }

        @Test
        void S01_S07_thereIsNoGrantIfTheNodeWasDeletedBeforeTheGrantWasCollected() {
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(deleted(OWN, 1), new Unlisten(OWN), Plain.DEREGISTER, Plain.WAKE_WAITER);
            on(attempt(), Plain.REPORT_NODE_DELETED);
        }

        @Test
        void aSpuriousWakeUpNeedsNeitherAWriteNorAWatch() {
            on(attempt(), new SendList(false));
            on(listed(1, NEXT, OWN), Plain.REPORT_WAITING);
        }

        @Test
        void S11_aWatchThatAnotherEventTriggeredIsRegisteredAgain() {
            on(new NodeChanged(NEXT), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
            on(listed(1, NEXT, OWN), new Watch(NEXT));
            on(watched(NEXT, 1), Plain.REPORT_WAITING);
        }

        @Test
        void S11_afterAReconnectAllWatchesAreRegisteredAgain() {
            on(new Reconnected(3), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
            on(listed(3, NEXT, OWN), new Watch(OWN), new Watch(NEXT));
            on(watched(OWN, 3));
            on(watched(NEXT, 3), Plain.REPORT_WAITING);
        }

        @Test
        void S01_aDeletionReportedAfterAReconnectIsNoGrant() {
            on(deleted(NEXT, 3), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
        }

        @Test
        void aDeletionReportedDuringTheWatchesAfterAReconnectIsTheGrant() {
            after(attempt());
            on(listed(3, NEXT, OWN), new Watch(OWN), new Watch(NEXT));
            after(deleted(NEXT, 3), new WatchFailed(NEXT, 3, missing));
            on(watched(OWN, 3), new ReportGranted(TOKEN));
        }

        /** Another thread may add the listener while the event thread dispatches the deletion. */
        @Test
        void S10_aListenerThatWasAddedAfterTheDeletionOfItsNodeIsRemoved() {
            after(attempt(), listed(3, NEXT, OWN), deleted(NEXT, 3));
            on(new End(), new Unlisten(NEXT), new SendRemoval(OWN));
            on(new WatchFailed(NEXT, 3, missing));
        }

        @Test
        void S10_suchAListenerIsRemovedIfItsWatchFails() {
            after(attempt(), listed(3, NEXT, OWN), deleted(NEXT, 3));
            on(new WatchFailed(NEXT, 3, lost), new Unlisten(NEXT));
            on(new WatchFailed(OWN, 3, lost), new FailAttempt(lost));
        }

        @Test
        void S01_theDeletionOfTheOwnNodeBeforeIsNoGrant() {
            on(deleted(OWN, 1), new Unwatch(NEXT), new Unlisten(OWN), Plain.DEREGISTER, Plain.WAKE_WAITER);
            on(deleted(NEXT, 1));
            on(attempt(), Plain.REPORT_NODE_DELETED);
        }

        @Test
        void S01_aDeletionWithoutAWatchOnTheOwnNodeIsNoGrant() {
            on(new NodeChanged(OWN), Plain.WAKE_WAITER);
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
        }

        @Test
        void theDeletionOfAnotherNodeIsIgnored() {
            on(deleted(SECOND, 1));
        }

        @Test
        void S10_aWithdrawalRemovesTheWatch() {
            on(new End(), new Unwatch(NEXT), new SendRemoval(OWN));
            on(deleted(OWN, 1));
        }

        @Test
        void theEndOfTheSessionWakesTheWaiter() {
            on(new SessionEnded(true), Plain.DEREGISTER, Plain.WAKE_WAITER);
            on(attempt(), Plain.REPORT_SESSION_ENDED);
        }

        @Test
        void S08_onAnApplicationsHandleTheNodeIsDeletedUntilTheServerHasResponded() {
            on(new SessionEnded(false), new Unwatch(NEXT), new SendRemoval(OWN), Plain.WAKE_WAITER);
            on(attempt(), Plain.REPORT_SESSION_ENDED);
            on(new RemovalFailed(lost), Plain.DEFER_REMOVAL);
            on(new RemovalDue(), new SendRemoval(OWN));
            on(new End());
            on(new Removed(true), new Unlisten(OWN), Plain.DEREGISTER, Plain.LOCK_NODE_UNUSED, new ReportEnded(true));
        }

        @Test
        void S08_aNodeThatAnApplicationsHandleMayNotDeleteIsReported() {
            after(new SessionEnded(false));
            on(new RemovalFailed(forbidden), new FailEnd(forbidden), new LogOrphan(forbidden));
            on(new End(), new SendRemoval(OWN));
        }
    }

    /** With two predecessors and no further ones, no list is needed any more, in whatever order the two are deleted. */
    @Nested
    class WithTwoPredecessors {
        @BeforeEach
        void queueThird() {
            queue(SECOND, NEXT);
        }

        @Test
        void S11_onlyTheDeletionOfBothIsTheGrant() {
            on(deleted(SECOND, 1));
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void S12_aPredecessorThatWithdrawsIsSkipped() {
            on(deleted(NEXT, 1));
            on(deleted(SECOND, 1), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void oneDeletionBeforeAReconnectAndOneAfterItAreTheGrant() {
            on(deleted(SECOND, 1));
            after(attempt(), listed(3, NEXT, OWN), watched(OWN, 3), watched(NEXT, 3));
            on(deleted(NEXT, 3), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void aDeletionOfTheOwnNodeBetweenTheTwoPreventsTheGrant() {
            on(deleted(SECOND, 1));
            on(deleted(OWN, 1), new Unwatch(NEXT), new Unlisten(OWN), Plain.DEREGISTER, Plain.WAKE_WAITER);
            on(deleted(NEXT, 1));
        }
    }

    /** In a deep queue the deletion of the second-nearest predecessor triggers a list, before the nearest one is deleted. */
    @Nested
    class InADeepQueue {
        @BeforeEach
        void queueFarBack() {
            queue(FARTHEST, SECOND, NEXT);
        }

        @Test
        void S11_afterTheListTheNextDeletionIsTheGrant() {
            on(deleted(SECOND, 1), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
            on(listed(1, NEXT, OWN), Plain.REPORT_WAITING);
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void S11_theGrantIsFoundByAListThatRacesWithTheLastDeletion() {
            after(deleted(SECOND, 1));
            on(attempt(), new SendList(false));
            on(deleted(NEXT, 1));
            on(listed(1, OWN), new ReportGranted(TOKEN));
        }

        @Test
        void theDeletionOfBothBeforeTheListIsNoGrant() {
            on(deleted(SECOND, 1), Plain.WAKE_WAITER);
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
        }

        @Test
        void aPredecessorThatWithdrewIsForgotten() {
            after(deleted(NEXT, 1), attempt());
            on(listed(1, SECOND, OWN), Plain.REPORT_WAITING);
            on(deleted(SECOND, 1), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void S10_aPredecessorThatIsNoLongerNearIsNotWatched() {
            after(attempt());
            on(listed(1, FARTHEST, SECOND, OWN), new Unwatch(NEXT), new Watch(FARTHEST));
        }

        @Test
        void S10_aWithdrawalRemovesBothWatches() {
            on(new End(), new Unwatch(SECOND), new Unwatch(NEXT), new SendRemoval(OWN));
        }
    }

    /** The server deletes all nodes of a session in one step, and reports the deletions in any order. */
    @Nested
    class WithAPredecessorOfTheSameSession {
        @BeforeEach
        void queueThird() {
            create();
            after(listed(1, SECOND, NEXT, OWN), watched(OWN, 1), watched(SECOND, 1), new Watched(NEXT, 1, true));
            on(deleted(SECOND, 1));
        }

        @Test
        void S01_aDeletionWithoutReleaseRequiresAList() {
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
        }

        @Test
        void S11_theReleaseOfThePredecessorIsTheGrant() {
            on(new NodeDeleted(NEXT, 1, true), Plain.WAKE_WAITER);
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void S01_anUnwatchedPredecessorCountsAsOneOfTheSameSession() {
            after(new NodeChanged(NEXT));
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
        }
    }

    @Nested
    class Watching {
        @BeforeEach
        void list() {
            create();
            on(listed(1, SECOND, NEXT, OWN), new Watch(OWN), new Watch(SECOND), new Watch(NEXT));
        }

        @Test
        void onlyTheNextPredecessorMustBeReadable() {
            on(new WatchFailed(SECOND, 1, forbidden), new Unlisten(SECOND));
            after(watched(OWN, 1));
            on(watched(NEXT, 1), Plain.REPORT_WAITING);
            on(deleted(NEXT, 1), Plain.WAKE_WAITER);
            on(attempt(), new SendList(false));
        }

        @Test
        void S14_aNextPredecessorThatMayNotBeReadFailsTheAttempt() {
            on(new WatchFailed(NEXT, 1, forbidden));
            on(watched(SECOND, 1));
            on(watched(OWN, 1), new FailAttempt(forbidden));
        }

        @Test
        void aDeletionBetweenTheListAndTheWatchCountsAsAnEvent() {
            on(new WatchFailed(SECOND, 1, missing), new Unlisten(SECOND));
            on(new WatchFailed(NEXT, 1, missing), new Unlisten(NEXT));
            on(watched(OWN, 1), new ReportGranted(TOKEN));
        }

        @Test
        void S01_aDeletionOfTheOwnNodeBeforeItsWatchEndsTheAttempt() {
            on(
                    new WatchFailed(OWN, 1, missing),
                    new Unwatch(SECOND),
                    new Unwatch(NEXT),
                    new Unlisten(OWN),
                    Plain.DEREGISTER,
                    Plain.REPORT_NODE_DELETED);
            on(watched(SECOND, 1));
            on(watched(NEXT, 1));
        }

        @Test
        void S08_aLostConnectionFailsTheAttemptOnce() {
            on(new WatchFailed(OWN, 1, lost));
            on(new WatchFailed(SECOND, 1, lost));
            on(new WatchFailed(NEXT, 1, lost), new FailAttempt(lost));
            assertPhase(Queued.class);
        }

        @Test
        void S10_aWithdrawalDoesNotWaitForTheWatches() {
            on(new End(), new Unwatch(SECOND), new Unwatch(NEXT), new SendRemoval(OWN));
            on(watched(OWN, 1));
            on(new WatchFailed(SECOND, 1, missing));
        }

        @Test
        void anAttemptThatTimedOutIsContinuedByTheNext() {
            on(attempt());
            after(watched(OWN, 1), watched(SECOND, 1));
            on(attempt());
            on(watched(NEXT, 1), Plain.REPORT_WAITING);
        }
    }

    @Test
    void aDeletionBetweenTheListAndTheWatchRequiresAListIfThereAreFurtherPredecessors() {
        create();
        after(listed(1, FARTHEST, SECOND, NEXT, OWN), watched(OWN, 1));
        on(new WatchFailed(SECOND, 1, missing), new Unlisten(SECOND));
        on(watched(NEXT, 1), new SendList(false));
        on(listed(1, NEXT, OWN), Plain.REPORT_WAITING);
    }

    @Test
    void S01_aListWithoutTheOwnNodeEndsTheAttempt() {
        create();
        on(listed(1, NEXT), new Unlisten(OWN), Plain.DEREGISTER, Plain.REPORT_NODE_DELETED);
        assertPhase(Deleted.class);
    }

    @Test
    void aListThatFailsIsRepeatedByTheNextAttempt() {
        create();
        on(new ListFailed(lost), new FailAttempt(lost));
        on(attempt(), new SendList(false));
    }

    @Nested
    class OfAHolder {
        @BeforeEach
        void acquire() {
            hold();
            assertPhase(Holding.class);
        }

        @Test
        void S07_theDeletionOfTheNodeIsReportedOnce() {
            on(deleted(OWN, 1), new Unlisten(OWN), Plain.DEREGISTER, Plain.REPORT_LOSS);
            on(deleted(OWN, 1));
            on(new End(), Plain.DEREGISTER, Plain.LOCK_NODE_UNUSED, new ReportEnded(false));
        }

        @Test
        void S07_aLongHoldIsWatched() {
            on(new WatchDue(1), new Watch(OWN));
            on(watched(OWN, 1));
            on(new WatchDue(1));
            on(new Reconnected(1), Plain.WAKE_WAITER);
            on(new Reconnected(3), new Watch(OWN), Plain.WAKE_WAITER);
            on(new WatchFailed(OWN, 3, missing), new Unlisten(OWN), Plain.DEREGISTER, Plain.REPORT_LOSS);
        }

        @Test
        void S07_aFailedWatchIsRegisteredLaterUnlessItWillFailAgain() {
            on(new WatchFailed(OWN, 1, lost));
            on(new WatchFailed(OWN, 1, forbidden));
            Throwable other = KeeperException.create(Code.SYSTEMERROR);
            on(new WatchFailed(OWN, 1, other), new RetryWatch(other));
        }

        @Test
        void S07_aWatchThatAnotherEventTriggeredIsRegisteredAgain() {
            on(new NodeChanged(OWN), new Watch(OWN));
        }

        @Test
        void aGrantThatMissedItsAttemptIsReportedToTheNext() {
            on(attempt(), new ReportGranted(TOKEN));
        }

        @Test
        void S05_aReleaseThatFailsIsRepeated() {
            after(new End());
            on(new RemovalFailed(lost), new FailEnd(lost));
            assertPhase(Unremoved.class);
            on(deleted(OWN, 3));
            on(new Abandon(), Plain.END_SESSION);
            on(new End(), new SendRemoval(OWN));
            on(new Removed(false), new Unlisten(OWN), Plain.DEREGISTER, Plain.LOCK_NODE_UNUSED, new ReportEnded(false));
        }

        @Test
        void S05_afterTheEndOfTheSessionThereIsNothingToRelease() {
            on(new SessionEnded(true), Plain.DEREGISTER, Plain.WAKE_WAITER);
            on(new End(), new ReportEnded(false));
        }

        @Test
        void S05_aReleaseEndsWithItsSession() {
            after(new End());
            on(new SessionEnded(true), Plain.DEREGISTER, new ReportEnded(false));
            on(new RemovalFailed(expired));
        }

        @Test
        void S07_noLossIsReportedOnceTheReleaseHasBegun() {
            after(new End());
            on(deleted(OWN, 1));
        }
    }

    @Test
    void aWaiterOnAnotherConnectionThanItsWatchIsWatchedAgainOnceItHolds() {
        queue(NEXT);
        after(deleted(NEXT, 1));
        assertPhase(Head.class);
        on(new Reconnected(3), Plain.WAKE_WAITER);
        on(attempt(), Plain.DEFER_WATCH, new ReportGranted(TOKEN));
    }

    @Test
    void S01_aSequenceNumberThatTheServerMayRepeatGrantsNothing() {
        String own = LOCK + "/own-lock-2147483647";
        after(attempt(), new SessionReady(), new Created(own, TOKEN));
        on(listed(1, own), new FailNumbersUsedUp(own));
        on(new End(), new SendRemoval(own));
    }

    @Test
    void whatIsImpossibleIsReported() {
        List<ZooKeeperContenderEvent> impossible = List.of(created(), listed(1, OWN), new Removed(true));
        IntStream.range(0, impossible.size())
                .forEach(i -> assertThatThrownBy(() -> ZooKeeperContenderState.on(state, impossible.get(i)))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("impossible in Idle"));
    }
}
