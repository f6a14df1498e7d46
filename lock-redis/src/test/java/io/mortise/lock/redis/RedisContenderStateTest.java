// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.RedisContenderEffect.CheckHandOff;
import io.mortise.lock.redis.RedisContenderEffect.Confirm;
import io.mortise.lock.redis.RedisContenderEffect.FailAttempt;
import io.mortise.lock.redis.RedisContenderEffect.FailCleanup;
import io.mortise.lock.redis.RedisContenderEffect.FailEnd;
import io.mortise.lock.redis.RedisContenderEffect.Plain;
import io.mortise.lock.redis.RedisContenderEffect.ReportBusy;
import io.mortise.lock.redis.RedisContenderEffect.ReportEnded;
import io.mortise.lock.redis.RedisContenderEffect.ReportGranted;
import io.mortise.lock.redis.RedisContenderEffect.SendDelayedRelease;
import io.mortise.lock.redis.RedisContenderEffect.SendRemoval;
import io.mortise.lock.redis.RedisContenderEvent.Abandon;
import io.mortise.lock.redis.RedisContenderEvent.AcquireFailed;
import io.mortise.lock.redis.RedisContenderEvent.Attempt;
import io.mortise.lock.redis.RedisContenderEvent.Busy;
import io.mortise.lock.redis.RedisContenderEvent.CleanupDue;
import io.mortise.lock.redis.RedisContenderEvent.Confirmed;
import io.mortise.lock.redis.RedisContenderEvent.DelayFailed;
import io.mortise.lock.redis.RedisContenderEvent.Delayed;
import io.mortise.lock.redis.RedisContenderEvent.End;
import io.mortise.lock.redis.RedisContenderEvent.EndAfter;
import io.mortise.lock.redis.RedisContenderEvent.Expired;
import io.mortise.lock.redis.RedisContenderEvent.Granted;
import io.mortise.lock.redis.RedisContenderEvent.GrantedUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUsable;
import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderEvent.Late;
import io.mortise.lock.redis.RedisContenderEvent.NotConfirmed;
import io.mortise.lock.redis.RedisContenderEvent.RemovalFailed;
import io.mortise.lock.redis.RedisContenderEvent.Removed;
import io.mortise.lock.redis.RedisContenderEvent.Woken;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the protocol of a contender event by event. The tests start on connection 1 of a server whose clock shows 10. */
class RedisContenderStateTest {
    private static final MonotonicInstant SENT = new MonotonicInstant(100);
    private static final MonotonicInstant UNTIL = new MonotonicInstant(200);
    private static final MonotonicInstant ARRIVED = new MonotonicInstant(150);

    private final LockException noReply = new BackendUnavailableException("no reply");
    private RedisContenderState state = RedisContenderState.INITIAL;

    private static ServerTime time(long micros) {
        return new ServerTime(micros);
    }

    private static Attempt attempt() {
        return new Attempt(1);
    }

    private static Granted granted(long token) {
        return new Granted(1, time(10), token, SENT, UNTIL, false);
    }

    private static Busy queued() {
        return new Busy(1, time(10), SENT, true, 3_000);
    }

    /** An acquire that was sent on connection 1, and that the server refuses when its clock shows more than 20. */
    private AcquireFailed lost() {
        return new AcquireFailed(false, 1, time(20), noReply);
    }

    private static HandedOff handedOff(int epoch, long time) {
        return new HandedOff(epoch, 7, time(time), ARRIVED);
    }

    private static Removed removed(int epoch, long time) {
        return new Removed(epoch, time(time), true, false);
    }

    /** Takes one event, and asserts what is to be done. */
    private void on(RedisContenderEvent event, RedisContenderEffect... effects) {
        RedisContenderState.Step step = RedisContenderState.on(state, event);
        assertThat(step.effects()).as("%s in %s", event, state).containsExactly(effects);
        state = step.state();
    }

    private void assertPhase(RedisContenderState.Phase phase) {
        assertThat(state.phase()).isEqualTo(phase);
    }

    /** Takes events whose effects are of no interest. */
    private void after(RedisContenderEvent... events) {
        for (RedisContenderEvent event : events) {
            state = RedisContenderState.on(state, event).state();
        }
    }

    @Test
    void aFreeLockTakesOneRequestAndItsReleaseAnother() {
        on(attempt(), Plain.SEND_ACQUIRE);
        on(granted(7), new ReportGranted(7, UNTIL));
        assertPhase(new RedisContenderState.Holding(7));
        on(new End(), new SendRemoval(false));
        on(removed(1, 0), Plain.UNREGISTER, new ReportEnded(true));
        assertPhase(new RedisContenderState.Gone());
    }

    @Test
    void S10_aBusyAttemptThatDoesNotWaitNeedsNoWithdrawal() {
        after(attempt());
        on(new Busy(1, time(10), SENT, false, 3_000), new ReportBusy(3_000));
        assertPhase(new RedisContenderState.Idle());
        on(new End(), Plain.UNREGISTER, new ReportEnded(false));
    }

    @Test
    void aQueuedAttemptIsHandedTheLockWithoutARequest() {
        after(attempt(), queued());
        on(handedOff(1, 12), Plain.WAKE_WAITER);
        on(
                attempt(),
                new CheckHandOff(
                        new RedisContenderState.Queued(1, SENT, time(10), handedOff(1, 12)), handedOff(1, 12)));
        on(new HandOffUsable(UNTIL), new ReportGranted(7, UNTIL));
        assertPhase(new RedisContenderState.Holding(7));
    }

    @Test
    void S02_aHandOffWhoseDeadlineIsUncertainIsRenewedByARequest() {
        after(attempt(), queued(), handedOff(1, 12), attempt());
        on(new HandOffUnusable(), Plain.SEND_ACQUIRE);
        on(granted(7), new ReportGranted(7, UNTIL));
    }

    @Test
    void aWakeUpLeadsToARequest() {
        after(attempt(), queued());
        on(new Woken(), Plain.WAKE_WAITER);
        on(attempt(), Plain.SEND_ACQUIRE);
    }

    /** The grant may have ended: a forced release came in between, and the waiter got the reply "busy" again. */
    @Test
    void S01_S19_aMessageOlderThanTheBusyReplyIsOnlyAHint() {
        after(attempt(), queued());
        on(handedOff(1, 9), Plain.WAKE_WAITER);
        on(attempt(), Plain.SEND_ACQUIRE);
    }

    @Test
    void S01_aMessageThatArrivedBeforeTheBusyReplyIsOnlyAHint() {
        after(attempt());
        on(handedOff(1, 12), Plain.WAKE_WAITER);
        after(queued());
        on(attempt(), Plain.SEND_ACQUIRE);
        after(queued(), handedOff(1, 12));
        on(attempt(), new CheckHandOff((RedisContenderState.Queued) queuedWith(12), handedOff(1, 12)));
    }

    private static RedisContenderState.Phase queuedWith(long handOff) {
        return new RedisContenderState.Queued(1, SENT, time(10), handedOff(1, handOff));
    }

    @Test
    void S01_aHandOffIsUsedOnce() {
        after(attempt(), queued(), handedOff(1, 12), attempt(), new HandOffUnusable(), queued());
        on(attempt(), Plain.SEND_ACQUIRE);
    }

    @Test
    void S02_aMessageOnAnotherConnectionThanTheReplyIsOnlyAHint() {
        after(attempt(), queued());
        on(handedOff(2, 12), Plain.WAKE_WAITER);
        on(new Attempt(2), Plain.SEND_ACQUIRE);
    }

    @Test
    void S02_aMessageAndAReplyOfALostConnectionAreOnlyAHint() {
        after(attempt(), queued(), handedOff(1, 12));
        on(new Attempt(2), Plain.SEND_ACQUIRE);
    }

    @Test
    void S08_afterARequestWithoutAReplyTheWithdrawalRequiresTheTime() {
        after(attempt());
        on(lost(), new FailAttempt(noReply));
        on(new End(), new SendRemoval(true));
        on(removed(1, 0), Plain.UNREGISTER, new ReportEnded(true));
        assertPhase(new RedisContenderState.Gone());
    }

    @Test
    void S08_onAnotherConnectionTheRemovalIsRepeatedUntilTheServerRefusesTheRequest() {
        after(attempt(), lost(), new End());
        on(removed(2, 20), Plain.START_CLEANUP, Plain.UNREGISTER, new ReportEnded(true));
        on(new CleanupDue(), new SendRemoval(true));
        on(removed(2, 20), Plain.REPEAT_CLEANUP);
        on(new CleanupDue(), new SendRemoval(true));
        on(new RemovalFailed(false, noReply), new FailCleanup(noReply));
        on(new CleanupDue(), new SendRemoval(true));
        on(removed(2, 21), Plain.COMPLETE_CLEANUP);
        assertPhase(new RedisContenderState.Gone());
    }

    @Test
    void S08_aRequestThatWasNotExecutedLeavesNothingInDoubt() {
        after(attempt());
        on(new AcquireFailed(true, 1, time(20), noReply), new FailAttempt(noReply));
        on(new End(), new SendRemoval(false));
    }

    /** It may be queued since an earlier request, which had a reply. */
    @Test
    void S10_aQueuedAttemptWhoseNextRequestFailsIsWithdrawn() {
        after(attempt(), queued(), attempt());
        on(new AcquireFailed(true, 1, time(20), noReply), new FailAttempt(noReply));
        on(handedOff(1, 12), Plain.WAKE_WAITER);
        on(new End(), new SendRemoval(false));
    }

    @Test
    void S08_aLostRequestStaysInDoubtAlthoughALaterOneFoundTheLockBusy() {
        after(attempt(), lost(), new Attempt(2));
        on(new Busy(2, time(15), SENT, false, 3_000), new ReportBusy(3_000));
        assertPhase(new RedisContenderState.Unsettled());
        on(new End(), new SendRemoval(true));
        on(removed(2, 21), Plain.UNREGISTER, new ReportEnded(true));
    }

    @Test
    void S08_theGrantOfALostRequestIsReturnedByTheNext() {
        after(attempt(), lost());
        on(new Attempt(2), Plain.SEND_ACQUIRE);
        on(new Granted(2, time(15), 7, SENT, UNTIL, false), new ReportGranted(7, UNTIL));
        on(new End(), new SendRemoval(true));
        on(removed(2, 18), Plain.START_CLEANUP, Plain.UNREGISTER, new ReportEnded(true));
    }

    @Test
    void aLateRequestIsSentThreeTimes() {
        on(attempt(), Plain.SEND_ACQUIRE);
        on(new Late(1, time(21)), Plain.SEND_ACQUIRE);
        on(new Late(1, time(21)), Plain.SEND_ACQUIRE);
        on(new Late(1, time(21)), Plain.FAIL_LATE_ATTEMPT);
        on(attempt(), Plain.SEND_ACQUIRE);
        on(new Late(1, time(21)), Plain.SEND_ACQUIRE);
    }

    @Test
    void aGrantCountsOnceItIsConfirmed() {
        after(attempt());
        on(new Granted(1, time(10), 7, SENT, UNTIL, true), new Confirm(1, SENT));
        on(new Confirmed(ARRIVED), new ReportGranted(7, ARRIVED));
    }

    @Test
    void aGrantThatIsNotConfirmedIsRemovedBeforeTheAttemptFails() {
        after(attempt(), new Granted(1, time(10), 7, SENT, UNTIL, true));
        on(new NotConfirmed(noReply), new SendRemoval(false));
        on(removed(1, 0), new FailAttempt(noReply));
        assertPhase(new RedisContenderState.Idle());
    }

    @Test
    void S19_aGrantWithAnImpossibleTokenIsRemovedBeforeTheAttemptFails() {
        after(attempt());
        on(new GrantedUnusable(1, time(10), noReply), new SendRemoval(false));
        on(new RemovalFailed(true, new BackendUnavailableException("another")), new FailAttempt(noReply));
        on(new End(), new SendRemoval(false));
    }

    /** The removal may be executed after the next acquire, and would then remove a grant that the core believes in. */
    @Test
    void S01_anAttemptWhoseRemovalHadNoReplyIsNotUsedAgain() {
        after(attempt(), new Granted(1, time(10), 7, SENT, UNTIL, true), new NotConfirmed(noReply));
        on(new RemovalFailed(false, noReply), new FailAttempt(noReply));
        on(new Woken(), Plain.WAKE_WAITER);
        on(new Attempt(2), Plain.START_CLEANUP, Plain.UNREGISTER, Plain.REPORT_DISPLACED);
        on(new CleanupDue(), new SendRemoval(false));
        on(removed(2, 0), Plain.COMPLETE_CLEANUP);
    }

    @Test
    void S08_anAttemptWhoseRemovalHadNoReplyIsWithdrawn() {
        after(attempt(), new GrantedUnusable(1, time(10), noReply), new RemovalFailed(false, noReply));
        on(new End(), new SendRemoval(false));
        on(removed(2, 0), Plain.UNREGISTER, new ReportEnded(true));
    }

    @Test
    void S05_aReleaseThatFailsIsRepeated() {
        after(attempt(), granted(7), new End());
        on(new RemovalFailed(false, noReply), new FailEnd(noReply));
        on(new End(), new SendRemoval(false));
        on(new Removed(1, time(0), false, true), Plain.UNREGISTER, new ReportEnded(false));
    }

    @Test
    void S10_ofAWaiterAQueueEntryIsWithdrawn() {
        after(attempt(), queued());
        on(new End(), new SendRemoval(false));
        on(new Removed(1, time(12), false, true), Plain.UNREGISTER, new ReportEnded(true));
    }

    @Test
    void S05_aDelayedReleaseEndsTheContender() {
        after(attempt(), granted(7));
        on(new EndAfter(Duration.ofSeconds(9)), new SendDelayedRelease(Duration.ofSeconds(9), 7));
        on(new Delayed(1, time(12), true), Plain.UNREGISTER, new ReportEnded(true));
        assertPhase(new RedisContenderState.Gone());
    }

    @Test
    void S05_aDelayedReleaseWithoutAReplyMayBeRepeated() {
        after(attempt(), granted(7), new EndAfter(Duration.ofSeconds(8)));
        on(new DelayFailed(noReply), new FailEnd(noReply));
        after(new EndAfter(Duration.ofSeconds(7)));
        on(new Delayed(1, time(21), true), Plain.UNREGISTER, new ReportEnded(true));
    }

    @Test
    void S08_aGrantThatALostRequestMayCreateAfterADelayedReleaseIsRemoved() {
        after(attempt(), lost(), new Attempt(2), new Granted(2, time(15), 7, SENT, UNTIL, false));
        after(new EndAfter(Duration.ofSeconds(9)));
        on(new Delayed(2, time(20), true), Plain.START_CLEANUP, Plain.UNREGISTER, new ReportEnded(true));
    }

    @Test
    void S10_anAbandonedQueueEntryIsWithdrawnWhenTheServerIsBack() {
        after(attempt(), queued(), new End(), new RemovalFailed(false, noReply));
        on(new Abandon(), Plain.AWAIT_EXPIRY);
        on(new Woken(), new SendRemoval(false));
        on(new RemovalFailed(false, noReply));
        on(handedOff(2, 30), new SendRemoval(false));
        on(new Woken());
        on(removed(2, 31), Plain.UNREGISTER);
        on(new Expired());
        assertPhase(new RedisContenderState.Gone());
    }

    @Test
    void S08_anAbandonedContenderIsForgottenWhenItsQueueEntryHasExpired() {
        after(attempt(), queued(), new End(), new RemovalFailed(false, noReply), new Abandon());
        on(new Expired(), Plain.UNREGISTER);
        assertPhase(new RedisContenderState.Gone());
    }

    @Test
    void hintsForAHolderAndForAnEndedContenderDoNothing() {
        after(attempt(), granted(7));
        on(new Woken());
        on(handedOff(1, 12));
        after(new End());
        on(new Woken());
        after(removed(1, 0));
        on(handedOff(1, 12));
        on(new End(), new ReportEnded(false));
    }

    @Test
    void whatIsImpossibleIsReported() {
        assertThatThrownBy(() -> RedisContenderState.on(state, granted(7)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Granted[")
                .hasMessageContaining("Idle[]");
        after(attempt());
        assertThatThrownBy(() -> RedisContenderState.on(state, attempt()))
                .as("calls do not overlap")
                .isInstanceOf(IllegalStateException.class);
    }
}
