// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.grant.RedlockContenderEvent.Executed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.InDoubt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Refused;
import org.junit.jupiter.api.Test;

/** Tests that a possible orphan is reported until the master has ruled it out. */
class AttemptAtMasterTest {
    private static final Executed NO_VOTE = new Executed(1, 30, true);
    private static final Executed VOTE = new Executed(1, 30, false);

    private final AttemptAtMaster asked = AttemptAtMaster.NOTHING.sent();

    @Test
    void S08_lateReplyOfEarlierRoundDoesNotHideOrphanOfLaterRound() {
        AttemptAtMaster twice = asked.sent().answered(NO_VOTE, false);
        assertThat(twice.mayHaveOrphans()).isTrue();
        assertThat(twice.answered(NO_VOTE, false).mayHaveOrphans()).isFalse();
    }

    @Test
    void S08_aLostRequestMayLeaveAnOrphanUntilTheMasterRefusesIt() {
        AttemptAtMaster lost = asked.answered(new InDoubt(1, 20), false);
        assertThat(lost.mayStillExecute()).isTrue();
        AttemptAtMaster early = lost.sent().answered(new Executed(2, 20, true), false);
        assertThat(early.mayHaveOrphans()).isTrue();
        AttemptAtMaster refused = early.sent().answered(new Executed(2, 21, true), false);
        assertThat(refused.mayHaveOrphans()).isFalse();
        assertThat(lost.resolvedBy(2, 21).mayStillExecute()).isFalse();
    }

    /** The vote of an earlier round may remain if the request to delete it had no reply. */
    @Test
    void S08_aRequestThatWasNotExecutedDoesNotHideAnEarlierVote() {
        AttemptAtMaster voted = asked.answered(VOTE, false);
        assertThat(voted.sent().answered(new NotExecuted(), false).mayHaveOrphans())
                .isTrue();
        assertThat(voted.sent().answered(new Refused(1, 40), false).mayHaveOrphans())
                .isTrue();
        assertThat(asked.answered(new NotExecuted(), true).mayHaveOrphans()).isFalse();
    }

    @Test
    void waitingAttemptMayBeQueuedWithoutVote() {
        AttemptAtMaster queued = asked.answered(NO_VOTE, true);
        assertThat(queued.voted()).isFalse();
        assertThat(queued.queued()).isTrue();
        assertThat(queued.mayHaveOrphans()).isTrue();
    }
}
