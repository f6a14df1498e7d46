// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests that {@link AttemptOrphanTracker} reports a possible orphan until the master has ruled it out. */
class AttemptOrphanTrackerTest {
    private final AttemptOrphanTracker tracker = new AttemptOrphanTracker();

    @Test
    void S08_lateReplyOfEarlierRoundDoesNotHideOrphanOfLaterRound() {
        tracker.requestSent(false);
        tracker.requestSent(false);

        tracker.requestCompleted();
        tracker.nothingFound();
        assertThat(tracker.mayExist()).isTrue();

        tracker.requestCompleted();
        tracker.nothingFound();
        assertThat(tracker.mayExist()).isFalse();
    }

    @Test
    void waitingAttemptMayBeQueuedWithoutVote() {
        tracker.requestSent(true);
        tracker.requestCompleted();
        tracker.nothingFound();
        assertThat(tracker.mayExist()).isTrue();
        assertThat(tracker.mayBeQueued()).isTrue();
    }

    @Test
    void voteMayExistUntilMasterReportsNone() {
        tracker.requestSent(false);
        tracker.requestCompleted();
        assertThat(tracker.mayExist()).isTrue();
        assertThat(tracker.mayBeQueued()).isFalse();
    }
}
