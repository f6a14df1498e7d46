// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.core.acquire.AcquireEffect.Attempt;
import io.mortise.lock.core.acquire.AcquireEffect.FailedForGood;
import io.mortise.lock.core.acquire.AcquireEffect.PlainEnd;
import io.mortise.lock.core.acquire.AcquireEffect.RecordFailure;
import io.mortise.lock.core.acquire.AcquireEffect.Remove;
import io.mortise.lock.core.acquire.AcquireEffect.Unavailable;
import io.mortise.lock.core.acquire.AcquireEvent.Busy;
import io.mortise.lock.core.acquire.AcquireEvent.DeadlineReached;
import io.mortise.lock.core.acquire.AcquireEvent.Displaced;
import io.mortise.lock.core.acquire.AcquireEvent.Failed;
import io.mortise.lock.core.acquire.AcquireEvent.FirstInQueue;
import io.mortise.lock.core.acquire.AcquireEvent.GrantEnded;
import io.mortise.lock.core.acquire.AcquireEvent.Hint;
import io.mortise.lock.core.acquire.AcquireEvent.JoinedAsFirst;
import io.mortise.lock.core.acquire.AcquireEvent.LockFreed;
import io.mortise.lock.core.acquire.AcquireEvent.Plain;
import io.mortise.lock.core.acquire.AcquireEvent.RetryDue;
import io.mortise.lock.core.acquire.AcquireEvent.StoreSilent;
import io.mortise.lock.core.acquire.AcquireState.Attempting;
import io.mortise.lock.core.acquire.AcquireState.BackingOff;
import io.mortise.lock.core.acquire.AcquireState.Ending;
import io.mortise.lock.core.acquire.AcquireState.PlainPhase;
import io.mortise.lock.core.acquire.AcquireState.Waiting;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests an acquire operation event by event: when it retries, how it ends, and how long it says that the store was silent. */
class AcquireStateTest {
    private static final Duration OUTAGE = Duration.ofSeconds(10);
    private static final Duration REQUEST = Duration.ofSeconds(1);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration FALLBACK = Duration.ofSeconds(5);

    private final LockException noAnswer = new BackendUnavailableException("no answer");
    private final ManualClock clock = new ManualClock();
    private final LastResponse lastResponse = new LastResponse(clock);
    private AcquireState state = waiting(null);

    private AcquireState waiting(@Nullable Duration maxWait) {
        return AcquireState.initial(new WaitPolicy(maxWait, REQUEST, OUTAGE, LEASE, clock.now()));
    }

    private MonotonicInstant now() {
        return clock.now();
    }

    private StoreContact contact() {
        return lastResponse.contact();
    }

    private Busy busy() {
        lastResponse.received();
        return new Busy(FALLBACK, now(), 0);
    }

    private Failed failed(LockException cause) {
        return new Failed(cause, now(), contact(), 0);
    }

    private Displaced displaced() {
        return new Displaced("the session ended", now(), contact(), 0);
    }

    private DeadlineReached deadline(boolean queueBusy) {
        return new DeadlineReached(queueBusy, now(), contact());
    }

    private RetryDue retryDue() {
        assertThat(state.retryAt()).isNotNull();
        return new RetryDue(now());
    }

    /** Takes one event, and asserts what is to be done. */
    private void on(AcquireEvent event, AcquireEffect... effects) {
        AcquireState.Step step = AcquireState.on(state, event);
        assertThat(step.effects()).as("%s in %s", event, state).containsExactly(effects);
        record(step);
    }

    /** Takes events whose effects are of no interest. */
    private void after(AcquireEvent... events) {
        for (AcquireEvent event : events) {
            record(AcquireState.on(state, event));
        }
    }

    private void retry() {
        after(retryDue());
    }

    private void record(AcquireState.Step step) {
        state = step.state();
        for (AcquireEffect effect : step.effects()) {
            if (effect instanceof RecordFailure failure) {
                lastResponse.failed(failure.sent());
            }
        }
    }

    private void assertPhase(AcquireState.Phase phase) {
        assertThat(state.phase()).isEqualTo(phase);
    }

    /** Lets the pending attempt fail. Returns the pause after it. */
    private Duration fail() {
        after(failed(noAnswer));
        return now().until(Objects.requireNonNull(state.retryAt()));
    }

    private long silence(AcquireEvent event) {
        return AcquireState.on(state, event).effects().stream()
                .filter(Unavailable.class::isInstance)
                .map(end -> ((Unavailable) end).silence().toMillis())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aFreeLockTakesOneAttempt() {
        on(Plain.START, new Attempt(1));
        on(Plain.GRANTED, AcquireEffect.Plain.DELIVER);
        assertPhase(PlainPhase.ENDED);
        on(Plain.WITHDRAW);
        on(Plain.CLOSE);
    }

    @Test
    void S11_aHintAndTheFallbackTimeEachLeadToAnAttempt() {
        after(Plain.START);
        on(busy());
        assertPhase(new Waiting(now().plus(FALLBACK)));
        RetryDue due = retryDue();
        on(new Hint(1, now()), new Attempt(1));
        on(due);
        after(busy());
        on(retryDue(), new Attempt(1));
    }

    @Test
    void S11_aHintDuringAnAttemptLeadsToAnotherOne() {
        after(Plain.START);
        on(new Hint(1, now()));
        on(new LockFreed(now()));
        assertPhase(new Attempting(now(), true));
        on(busy(), new Attempt(1));
        assertPhase(new Attempting(now(), false));
    }

    @Test
    void aHintForAContenderThatWasReplacedIsIgnored() {
        after(Plain.START);
        on(displaced(), new Attempt(2));
        on(new Hint(1, now()));
        after(busy());
        on(new Hint(1, now()));
        on(new Hint(2, now()), new Attempt(2));
    }

    @Test
    void S10_aWithdrawalDuringAnAttemptRemovesTheContenderAfterIt() {
        after(Plain.START);
        on(Plain.WITHDRAW, PlainEnd.WITHDRAWN);
        assertPhase(new Ending(now()));
        on(new Hint(1, now()));
        on(Plain.CLOSE);
        on(busy(), new Remove(1), AcquireEffect.Plain.LEAVE_CLIENT);
        assertPhase(PlainPhase.ENDED);
    }

    @Test
    void S10_aWithdrawalDuringAPauseRemovesTheContenderAtOnce() {
        after(Plain.START, busy());
        RetryDue due = retryDue();
        on(Plain.WITHDRAW, new Remove(1), AcquireEffect.Plain.LEAVE_CLIENT, PlainEnd.WITHDRAWN);
        on(due);
        on(new Hint(1, now()));
    }

    @Test
    void S08_aGrantThatComesAfterTheEndIsGivenBack() {
        after(Plain.START, Plain.CLOSE);
        on(Plain.GRANTED, AcquireEffect.Plain.DISCARD, AcquireEffect.Plain.LEAVE_CLIENT);
    }

    @Test
    void S15_aFailureAfterTheEndCountsForTheClient() {
        after(Plain.START, Plain.WITHDRAW);
        on(failed(noAnswer), new RecordFailure(now()), new Remove(1), AcquireEffect.Plain.LEAVE_CLIENT);
    }

    @Test
    void S08_aGrantThatHasEndedIsReplacedByANewContender() {
        after(Plain.START, new Hint(1, now()));
        on(new GrantEnded(now(), contact(), 0), AcquireEffect.Plain.DISCARD, new Attempt(2));
        on(new GrantEnded(now(), contact(), 0), AcquireEffect.Plain.DISCARD, new RecordFailure(now()));
        assertPhase(new BackingOff(now().plus(Duration.ofMillis(50)), true));
        on(new LockFreed(now())); // by the removal of that grant
        on(retryDue(), new Attempt(3));
    }

    @Test
    void S09_aSingleAttemptEndsWithItsResult() {
        state = waiting(Duration.ZERO);
        after(Plain.START);
        on(busy(), new Remove(1), AcquireEffect.Plain.LEAVE_CLIENT, PlainEnd.BUSY);
    }

    @Test
    void S09_aSingleAttemptThatIsDisplacedIsRetriedOnce() {
        state = waiting(Duration.ZERO);
        after(Plain.START);
        on(displaced(), new Attempt(2));
        AcquireState.Step step = AcquireState.on(state, displaced());
        assertThat(step.effects())
                .last()
                .isInstanceOfSatisfying(
                        Unavailable.class, end -> assertThat(end.last()).hasMessage("the session ended"));
        assertThat(step.decides()).isTrue();
    }

    @Test
    void S15_aFailureThatWaitingCannotResolveIsFinal() {
        LockException refused = new BackendRefusedException("wrong password", null);
        after(Plain.START);
        on(failed(refused), new Remove(1), AcquireEffect.Plain.LEAVE_CLIENT, new FailedForGood(refused));
    }

    @Test
    void S12_inALocalQueueOnlyTheFirstMakesAttempts() {
        on(Plain.START_IN_QUEUE, AcquireEffect.Plain.JOIN_QUEUE);
        on(Plain.JOINED_BEHIND_OTHERS, AcquireEffect.Plain.NOTIFY_WAITING);
        on(new LockFreed(now()));
        on(new FirstInQueue(false, now(), contact()), new Attempt(1));
    }

    @Test
    void S12_aLocalQueueMayMoveOnWhileAnOperationJoinsIt() {
        on(Plain.START_IN_QUEUE, AcquireEffect.Plain.JOIN_QUEUE);
        on(new FirstInQueue(false, now(), contact()), new Attempt(1));
        on(Plain.JOINED_BEHIND_OTHERS);
    }

    @Test
    void S17_anOperationThatEndsWhileItJoinsALocalQueueLeavesIt() {
        after(Plain.START_IN_QUEUE);
        on(Plain.CLOSE, AcquireEffect.Plain.LEAVE_CLIENT, PlainEnd.CLOSED);
        on(new JoinedAsFirst(now()), AcquireEffect.Plain.LEAVE_QUEUE);
    }

    @Test
    void S15_behindASilentStoreAnOperationFailsOnlyAfterTheLengthOfAnOutage() {
        after(Plain.START_IN_QUEUE, Plain.JOINED_BEHIND_OTHERS);
        lastResponse.failed(now());
        clock.advance(OUTAGE.minusMillis(1));
        assertThat(AcquireState.on(state, new FirstInQueue(true, now(), contact()))
                        .effects())
                .containsExactly(new Attempt(1));
        clock.advance(Duration.ofMillis(1));
        assertThat(silence(new FirstInQueue(true, now(), contact()))).isEqualTo(OUTAGE.toMillis());
    }

    /** The first operation goes on, since its wait has a limit; or it does not know of the outage yet. */
    @Test
    void S15_anUnboundedWaitBehindAnotherOneEndsWithTheOutage() {
        after(Plain.START_IN_QUEUE, Plain.JOINED_BEHIND_OTHERS);
        lastResponse.failed(now());
        clock.advance(OUTAGE.minusMillis(1));
        on(new StoreSilent(now(), contact()));
        clock.advance(Duration.ofMillis(1));
        assertThat(silence(new StoreSilent(now(), contact()))).isEqualTo(OUTAGE.toMillis());
    }

    /** The store was silent for a moment, when the wait of the operation ahead was over. */
    @Test
    void S15_behindAnOperationThatFailedALongWaitIsNoOutage() {
        after(Plain.START_IN_QUEUE, Plain.JOINED_BEHIND_OTHERS);
        clock.advance(OUTAGE.multipliedBy(2));
        lastResponse.failed(now());
        clock.advance(Duration.ofMillis(50));
        on(new FirstInQueue(true, now(), contact()), new Attempt(1));
    }

    @Test
    void S15_aPauseWithoutEndIsBounded() {
        after(Plain.START, new Busy(ChronoUnit.FOREVER.getDuration(), now(), 1));
        assertThat(state.retryAt()).isNotNull();
    }

    @Test
    void S15_theDeadlineIsBusyOnlyIfTheLatestResultWasAndIsRecent() {
        after(Plain.START);
        assertThat(silence(deadline(false))).as("no result").isZero();
        after(busy());
        retry();
        assertThat(AcquireState.on(state, deadline(false)).effects()).containsExactly(PlainEnd.BUSY);
        clock.advance(LEASE.dividedBy(3).minusNanos(1));
        assertThat(AcquireState.on(state, deadline(false)).effects()).containsExactly(PlainEnd.BUSY);
        clock.advance(Duration.ofNanos(1));
        assertThat(silence(deadline(false))).as("old").isEqualTo(10_000);
        state = waiting(Duration.ofHours(1));
        after(Plain.START, busy());
        retry();
        fail();
        clock.advance(REQUEST);
        assertThat(silence(deadline(false))).as("failed").isEqualTo(REQUEST.toMillis());
    }

    @Test
    void S15_anOperationInTheLocalQueueReliesOnTheResultOfTheFirst() {
        after(Plain.START_IN_QUEUE, Plain.JOINED_BEHIND_OTHERS);
        on(deadline(true), AcquireEffect.Plain.LEAVE_CLIENT, PlainEnd.BUSY);
    }

    @Test
    void S15_aResponseResetsThePauses() {
        after(Plain.START);
        for (int i = 0; i < 5; i++) {
            fail();
            retry();
        }
        assertThat(fail()).isGreaterThan(Duration.ofMillis(500));
        retry();
        after(busy());
        retry();
        assertThat(fail()).isLessThan(Duration.ofMillis(100));
    }

    @Test
    void aPauseIsLongerByUpToAFifth() {
        after(Plain.START);
        after(new Failed(noAnswer, now(), contact(), 0.5));
        assertPhase(new BackingOff(now().plus(Duration.ofMillis(55)), false));
        on(new LockFreed(now()), new Attempt(1));
    }

    @Test
    void S15_thePauseOfAnUnboundedWaitEndsWithTheOutage() {
        AcquireState bounded = waiting(Duration.ofHours(1));
        AcquireState unbounded = state;
        assertThat(lastPauses(bounded)).isGreaterThanOrEqualTo(Duration.ofMillis(50));
        assertThat(lastPauses(unbounded)).isEqualTo(Duration.ofMillis(10));
        retry();
        clock.advance(Duration.ofMillis(10));
        assertThat(silence(failed(noAnswer))).isEqualTo(OUTAGE.toMillis());
    }

    /** Returns the pause after a failure that comes 10 ms before the outage has lasted too long. */
    private Duration lastPauses(AcquireState from) {
        lastResponse.received();
        state = AcquireState.initial(new WaitPolicy(from.policy().maxWait(), REQUEST, OUTAGE, LEASE, now()));
        after(Plain.START);
        fail();
        retry();
        clock.advance(OUTAGE.minusMillis(10));
        return fail();
    }

    @Test
    void S15_theSilenceCountsFromTheFirstRequestWithoutResponse() {
        after(Plain.START_IN_QUEUE, Plain.JOINED_BEHIND_OTHERS);
        clock.advance(Duration.ofSeconds(5)); // no request: this is not silence
        after(new FirstInQueue(false, now(), contact()));
        clock.advance(Duration.ofMillis(700));
        assertThat(silence(deadline(false))).as("pending").isEqualTo(700);
        fail();
        clock.advance(Duration.ofMillis(300));
        retry();
        assertThat(silence(deadline(false))).as("failed").isEqualTo(1000);
    }

    @Test
    void S15_theSilenceOfAWaiterWithoutRequestsCountsFromTheLastResponse() {
        after(Plain.START_IN_QUEUE, Plain.JOINED_BEHIND_OTHERS);
        clock.advance(Duration.ofSeconds(3));
        assertThat(silence(deadline(false))).isEqualTo(3000);
    }

    @Test
    void S04_theWarningOfAWaitForTheOwnProcessIsNotDelayedByResults() {
        after(Plain.START);
        MonotonicInstant first = now();
        after(busy());
        clock.advance(FALLBACK);
        retry();
        after(busy());
        assertThat(state.selfWaitAt()).isEqualTo(first.plus(LEASE));
    }

    @Test
    void whatIsImpossibleIsReported() {
        assertThatThrownBy(() -> AcquireState.on(state, busy()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Busy[")
                .hasMessageContaining("NEW");
        after(Plain.START, Plain.GRANTED);
        assertThatThrownBy(() -> AcquireState.on(state, Plain.GRANTED)).isInstanceOf(IllegalStateException.class);
    }
}
