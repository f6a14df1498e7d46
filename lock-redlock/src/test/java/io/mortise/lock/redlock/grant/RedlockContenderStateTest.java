// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Plain;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendYield;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Executed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests steps of {@link RedlockContenderState} with three masters that the explorations do not take. */
class RedlockContenderStateTest {
    private static final MonotonicInstant EARLY = new MonotonicInstant(0);
    private static final MonotonicInstant LIMIT = new MonotonicInstant(1);
    private static final MonotonicInstant LATE = new MonotonicInstant(2);
    private static final MasterVote GRANTED = new MasterVote.Granted(7);
    private static final Execution VOTED = new Executed(1, 0, false);
    private static final Execution BUSY = new Executed(1, 0, true);

    private RedlockContenderState state = RedlockContenderState.initial(3, false);
    private List<RedlockContenderEffect> effects = new ArrayList<>();

    private void on(RedlockContenderEvent event) {
        RedlockContenderState.Step step = RedlockContenderState.on(state, event);
        state = step.state();
        effects = step.effects();
    }

    private void attempt() {
        on(new RedlockContenderEvent.Attempt(LIMIT, LIMIT));
    }

    private void vote(int master, MasterVote vote, Execution execution, MonotonicInstant now) {
        on(new RedlockContenderEvent.Voted(master, state.round(), vote, execution, now));
    }

    private void conflict(int master, String holder, MonotonicInstant now) {
        vote(master, new MasterVote.Conflicted(holder, 9_000, 0), BUSY, now);
    }

    private void splitVotes(MonotonicInstant now) {
        vote(0, GRANTED, VOTED, now);
        conflict(1, "one", now);
        conflict(2, "another", now);
    }

    private void waiting() {
        state = RedlockContenderState.initial(3, true);
        attempt();
    }

    @Test
    void S09_aSplitRoundIsRepeatedAFewTimes() {
        attempt();
        for (int round = 1; round < RedlockContenderState.MOST_SPLIT_ROUNDS; round++) {
            splitVotes(EARLY);
            assertThat(effects).last().isInstanceOf(RedlockContenderEffect.Pause.class);
            on(new RedlockContenderEvent.PauseOver(LIMIT, true));
        }
        splitVotes(EARLY);
        assertThat(effects).last().isInstanceOf(RedlockContenderEffect.ReportBusy.class);
    }

    @Test
    void S09_aSplitRoundIsNotRepeatedWhenItsTimeIsOver() {
        attempt();
        splitVotes(LIMIT);
        assertThat(effects).singleElement().isInstanceOf(RedlockContenderEffect.ReportBusy.class);
    }

    /** The pause is computed from the votes that decided: a holder's remaining time would be far too long. */
    @Test
    void S09_aHolderThatShowsDuringThePauseEndsTheAttempt() {
        attempt();
        conflict(0, "one", EARLY);
        conflict(1, "another", EARLY);
        assertThat(effects)
                .singleElement()
                .isInstanceOfSatisfying(
                        RedlockContenderEffect.Pause.class,
                        pause -> assertThat(pause.votes().holder()).isEmpty());
        conflict(2, "another", EARLY);
        assertThat(effects).isEmpty();
        on(new RedlockContenderEvent.PauseOver(LIMIT, true));
        assertThat(effects).singleElement().isInstanceOf(RedlockContenderEffect.ReportBusy.class);
    }

    @Test
    void S10_anAttemptThatNobodyWaitsForIsNotRepeated() {
        attempt();
        splitVotes(EARLY);
        on(new RedlockContenderEvent.PauseOver(LIMIT, false));
        assertThat(effects).singleElement().isInstanceOf(RedlockContenderEffect.ReportBusy.class);
    }

    @Test
    void S09_anAttemptWithoutAVoteLeavesTheVotesToTheOthers() {
        attempt();
        vote(0, new MasterVote.Failed(new BackendUnavailableException("quarantine"), false), BUSY, EARLY);
        conflict(1, "one", EARLY);
        assertThat(effects).isEmpty();
        conflict(2, "another", EARLY);
        assertThat(effects).singleElement().isInstanceOf(RedlockContenderEffect.ReportBusy.class);
    }

    /** Each of three contenders may have one vote, and see those of the two others first. */
    @Test
    void S09_aVoteThatIsStillAwaitedMayBeOneOfThose() {
        attempt();
        conflict(0, "one", EARLY);
        conflict(1, "another", EARLY);
        vote(2, GRANTED, VOTED, EARLY);
        assertThat(effects).containsExactly(new SendYield(2, 1, false));
        on(new RedlockContenderEvent.PauseOver(LIMIT, true));
        assertThat(state.phase()).isInstanceOf(RedlockContenderState.Voting.class);
    }

    @Test
    void S08_aVoteOfALostRoundIsYieldedWhenItArrives() {
        waiting();
        conflict(0, "one", EARLY);
        conflict(1, "one", EARLY);
        assertThat(effects).singleElement().isInstanceOf(RedlockContenderEffect.ReportBusy.class);
        vote(2, GRANTED, VOTED, EARLY);
        assertThat(effects).containsExactly(new SendYield(2, 1, false));
        on(new RedlockContenderEvent.YieldFailed(2));
        assertThat(effects).containsExactly(Plain.WAKE_SOON);
    }

    @Test
    void S08_aVoteOfALostRoundIsYieldedDuringALaterOne() {
        waiting();
        conflict(0, "one", EARLY);
        conflict(1, "one", EARLY);
        attempt();
        on(new RedlockContenderEvent.Voted(2, 1, GRANTED, VOTED, EARLY));
        assertThat(effects).containsExactly(new SendYield(2, 1, false));
        assertThat(state.votes().of(2)).isInstanceOf(MasterVote.Pending.class);
        on(new RedlockContenderEvent.YieldFailed(2));
        assertThat(effects).as("the round under way deletes or uses it").isEmpty();
    }

    @Test
    void S02_aMajorityThatComesAfterTheDeadlineIsYieldedAndWakesTheOthers() {
        waiting();
        vote(0, GRANTED, VOTED, LATE);
        vote(1, GRANTED, VOTED, LATE);
        assertThat(effects)
                .containsExactly(
                        new SendYield(0, 1, true),
                        new SendYield(1, 1, true),
                        new RedlockContenderEffect.FailAttempt("winning a majority took longer than the lease"));
    }

    @Test
    void S11_hintsOfAMajorityWakeAndThoseOfAMinorityAfterADelay() {
        waiting();
        on(new RedlockContenderEvent.Hint(1));
        assertThat(effects).containsExactly(Plain.AWAIT_HINTS);
        on(new RedlockContenderEvent.Hint(1));
        assertThat(effects).isEmpty();
        on(new RedlockContenderEvent.HintsDue());
        assertThat(effects).containsExactly(Plain.WAKE);
        on(new RedlockContenderEvent.Hint(2));
        assertThat(effects).containsExactly(Plain.WAKE);
        on(new RedlockContenderEvent.HintsDue());
        assertThat(effects).isEmpty();
    }

    private void hold() {
        attempt();
        vote(0, GRANTED, VOTED, EARLY);
        vote(1, GRANTED, VOTED, EARLY);
        assertThat(state.phase()).isInstanceOf(RedlockContenderState.Holding.class);
    }

    @Test
    void S06_aLostVoteIsRequestedAgainUntilTheRelease() {
        hold();
        on(new RedlockContenderEvent.VoteMissing(2));
        assertThat(effects).containsExactly(new RedlockContenderEffect.SendRecovery(2, 1, 7));
        on(new RedlockContenderEvent.End(LIMIT));
        on(new RedlockContenderEvent.VoteMissing(2));
        assertThat(effects).isEmpty();
    }

    /** The script was not known, so the acquire is sent again and executed after the release. */
    @Test
    void S08_aReleaseThatOvertakesARequestIsRepeated() {
        hold();
        on(new RedlockContenderEvent.End(LIMIT));
        on(new RedlockContenderEvent.Removed(2, false, false, false, 1, 0));
        assertThat(effects).contains(new RedlockContenderEffect.StartCleanup(2, false));
        on(new RedlockContenderEvent.CleanupDue(2));
        on(new RedlockContenderEvent.Removed(2, true, true, false, 1, 0));
        assertThat(effects).containsExactly(new RedlockContenderEffect.RepeatCleanup(2));
        vote(2, GRANTED, VOTED, EARLY);
        assertThat(effects).as("the cleanup deletes it").isEmpty();
        on(new RedlockContenderEvent.CleanupDue(2));
        on(new RedlockContenderEvent.Removed(2, true, true, true, 1, 0));
        assertThat(effects).containsExactly(new RedlockContenderEffect.CompleteCleanup(2));
    }

    /** As above. The request is answered before the others decide the release, so nothing shows its vote by then. */
    @Test
    void S08_aVoteThatIsCreatedAfterADelayedReleaseIsDeleted() {
        hold();
        on(new RedlockContenderEvent.EndAfter(Duration.ofSeconds(9)));
        on(new RedlockContenderEvent.Kept(2, false, 1, 0));
        assertThat(effects).containsExactly(new RedlockContenderEffect.StartCleanup(2, false));
        vote(2, GRANTED, VOTED, EARLY);
        on(new RedlockContenderEvent.Kept(0, true, 1, 0));
        on(new RedlockContenderEvent.Kept(1, true, 1, 0));
        assertThat(effects).containsExactly(new RedlockContenderEffect.ReportEnded(true));
    }

    /** A vote that is kept without a majority would block the lock for the delay. */
    @Test
    void S05_eachVoteThatMayBeKeptWithoutAMajorityIsDeleted() {
        Duration delay = Duration.ofSeconds(9);
        hold();
        vote(2, GRANTED, VOTED, EARLY);
        on(new RedlockContenderEvent.EndAfter(delay));
        on(new RedlockContenderEvent.KeepFailed(0, "no reply"));
        on(new RedlockContenderEvent.Kept(1, true, 1, 0));
        on(new RedlockContenderEvent.KeepFailed(2, "no reply"));
        assertThat(effects).singleElement().isInstanceOf(RedlockContenderEffect.FailEnd.class);
        on(new RedlockContenderEvent.EndAfter(delay));
        on(new RedlockContenderEvent.KeepFailed(0, "no reply"));
        on(new RedlockContenderEvent.Kept(1, false, 1, 0));
        on(new RedlockContenderEvent.Kept(2, false, 1, 0));
        assertThat(effects)
                .containsExactly(
                        new RedlockContenderEffect.ReportEnded(false),
                        new RedlockContenderEffect.StartCleanup(0, false),
                        new RedlockContenderEffect.DeleteKeptVote(0, delay),
                        new RedlockContenderEffect.DeleteKeptVote(1, delay),
                        new RedlockContenderEffect.DeleteKeptVote(2, delay));
        on(new RedlockContenderEvent.CleanupEnded(0));
        assertThat(effects).containsExactly(new RedlockContenderEffect.DeleteKeptVote(0, delay));
    }

    /** The deletion would be pending for the whole delay if that master is silent. */
    @Test
    void S08_aMasterThatWasNotAskedToKeepAVoteIsNotAskedToDeleteIt() {
        Duration delay = Duration.ofSeconds(9);
        hold();
        conflict(2, "other", EARLY);
        on(new RedlockContenderEvent.EndAfter(delay));
        on(new RedlockContenderEvent.Kept(0, false, 1, 0));
        assertThat(effects)
                .containsExactly(
                        new RedlockContenderEffect.ReportEnded(false),
                        new RedlockContenderEffect.DeleteKeptVote(0, delay));
    }

    /** The master was asked to keep the vote of the first round, and then found the lock taken, by that vote. */
    @Test
    void S05_aVoteThatMayBeKeptCountsAlthoughALaterReplyShowsNoVote() {
        Duration delay = Duration.ofSeconds(9);
        MasterVote failed = new MasterVote.Failed(new BackendUnavailableException("no reply"), true);
        attempt();
        vote(0, GRANTED, VOTED, EARLY);
        conflict(1, "one", EARLY);
        vote(2, failed, new RedlockContenderEvent.InDoubt(1, 1), EARLY);
        on(new RedlockContenderEvent.PauseOver(LIMIT, true));
        vote(0, GRANTED, VOTED, EARLY);
        vote(1, GRANTED, VOTED, EARLY);
        on(new RedlockContenderEvent.EndAfter(delay));
        for (int master = 0; master < 3; master++) {
            on(new RedlockContenderEvent.KeepFailed(master, "no reply"));
        }
        vote(2, new MasterVote.Conflicted("this one", 9_000, 0), new Executed(1, 2, true), EARLY);
        on(new RedlockContenderEvent.EndAfter(delay));
        on(new RedlockContenderEvent.Kept(0, true, 1, 0));
        on(new RedlockContenderEvent.Kept(1, false, 1, 0));
        assertThat(effects).as("the third master decides").isEmpty();
        on(new RedlockContenderEvent.Kept(2, true, 1, 0));
        assertThat(effects).containsExactly(new RedlockContenderEffect.ReportEnded(true));
    }

    /** Another contender may have seen both votes, and would wait for a release. */
    @Test
    void S11_aRoundThatMayHaveHadAMajorityWakesTheOthers() {
        waiting();
        vote(0, GRANTED, VOTED, EARLY);
        MasterVote failed = new MasterVote.Failed(new BackendUnavailableException("no reply"), true);
        vote(1, failed, new RedlockContenderEvent.InDoubt(1, 1), EARLY);
        vote(2, failed, new RedlockContenderEvent.InDoubt(1, 1), EARLY);
        assertThat(effects).contains(new SendYield(0, 1, true), new SendYield(1, 1, true), new SendYield(2, 1, true));
    }
}
