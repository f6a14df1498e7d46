// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests that a possible orphan is reported until the master has ruled it out. */
class StoredAttemptAtMasterTest {
    private record Request(LockName name, String attemptId, String ownerRecord, Duration leaseDuration, boolean mayWait)
            implements LockRequest {}

    private final Request request = new Request(new LockName("x"), "a".repeat(32), "", Duration.ofSeconds(30), false);

    @SuppressWarnings("NullAway") // no request is sent
    private final StoredAttemptAtMaster attempt =
            new StoredAttemptAtMaster(null, request, new RedlockKeys("lock:").of(request.name()));

    @Test
    void S08_lateReplyOfEarlierRoundDoesNotHideOrphanOfLaterRound() {
        attempt.requestSent(1, false);
        attempt.requestSent(1, false);

        attempt.requestAnswered();
        attempt.noGrantFound();
        assertThat(attempt.mayHaveOrphans()).isTrue();

        attempt.requestAnswered();
        attempt.noGrantFound();
        assertThat(attempt.mayHaveOrphans()).isFalse();
    }

    @Test
    void S08_aLostRequestMayLeaveAnOrphanUntilTheMasterRefusesIt() {
        attempt.requestSent(1, false);
        attempt.requestLost(1, new ServerTime(20));
        attempt.timeReceived(2, new ServerTime(20));
        attempt.noGrantFound();
        assertThat(attempt.mayHaveOrphans()).isTrue();

        attempt.timeReceived(2, new ServerTime(21));
        attempt.noGrantFound();
        assertThat(attempt.mayHaveOrphans()).isFalse();
        assertThat(attempt.mayStillExecute()).isFalse();
    }

    @Test
    void waitingAttemptMayBeQueuedWithoutVote() {
        attempt.requestSent(1, true);
        attempt.requestAnswered();
        attempt.noGrantFound();
        assertThat(attempt.mayHaveOrphans()).isTrue();
        assertThat(attempt.mayBeQueued()).isTrue();
    }

    @Test
    void voteMayExistUntilMasterReportsNone() {
        attempt.requestSent(1, false);
        attempt.requestAnswered();
        assertThat(attempt.mayHaveOrphans()).isTrue();
        assertThat(attempt.mayBeQueued()).isFalse();
    }
}
