// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the delays that {@link RedlockRetryPolicy} computes for split votes and for a held lock. */
class RedlockRetryPolicyTest {
    private static final Quorum QUORUM = new Quorum(3);
    private static final MasterVote GRANTED = new MasterVote.Granted(1);
    private static final MasterVote FAILED = new MasterVote.Failed(new Exception("no answer"), true);

    private static MasterVote conflicted(long remainingMillis, long before) {
        return new MasterVote.Conflicted("holder", remainingMillis, before);
    }

    private static long millis(List<MasterVote> votes, boolean held, double random, int splitRounds) {
        return RedlockRetryPolicy.delay(votes, held, QUORUM, random, splitRounds)
                .toMillis();
    }

    /** A contender with votes retries soon; one without votes lets the others retry first. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 11, 15, 165",
        "2, 2, 22, 30, 330",
        "3, 4, 44, 60, 660",
        "4, 8, 88, 100, 1100",
        "8, 100, 1100, 100, 1100",
        "1000, 100, 1100, 100, 1100"
    })
    void delayGrowsWithEachSplitRound(
            int splitRounds, long least, long most, long leastWithoutVotes, long mostWithoutVotes) {
        List<MasterVote> withVotes = List.of(GRANTED, conflicted(9_000, 0), FAILED);
        List<MasterVote> withoutVotes = List.of(conflicted(9_000, 0), conflicted(9_000, 0), FAILED);
        assertThat(millis(withVotes, false, 0, splitRounds)).isEqualTo(least);
        assertThat(millis(withVotes, false, 1, splitRounds)).isEqualTo(most);
        assertThat(millis(withoutVotes, false, 0, splitRounds)).isEqualTo(leastWithoutVotes);
        assertThat(millis(withoutVotes, false, 1, splitRounds)).isEqualTo(mostWithoutVotes);
    }

    @Test
    void S11_delayEndsWhenAMajorityOfTheGrantHasExpired() {
        List<MasterVote> votes = List.of(conflicted(4_000, 0), conflicted(1_000, 0), conflicted(2_000, 0));
        assertThat(millis(votes, true, 0.5, 0)).isEqualTo(2_001);
    }

    @Test
    void delayGrowsWithQueuePosition() {
        List<MasterVote> votes = List.of(conflicted(1_000, 3), conflicted(1_000, 9), conflicted(1_000, 4));
        assertThat(millis(votes, true, 0.5, 0)).isEqualTo(1_001 + 400);
        List<MasterVote> last = List.of(conflicted(1_000, 300), conflicted(1_000, 300), FAILED);
        assertThat(millis(last, true, 0.5, 0)).isEqualTo(1_001 + 1_500);
    }

    @Test
    void S11_delayIsLimitedAsHintsMayBeLost() {
        assertThat(RedlockRetryPolicy.delay(
                        List.of(conflicted(-1, 0), conflicted(-1, 0), FAILED), true, QUORUM, 0.5, 0))
                .isEqualTo(RedlockRetryPolicy.MAX_DELAY)
                .isEqualTo(Duration.ofSeconds(5));
        assertThat(RedlockRetryPolicy.delay(
                        List.of(conflicted(30_000, 9), conflicted(30_000, 9), FAILED), true, QUORUM, 0.5, 0))
                .isEqualTo(RedlockRetryPolicy.MAX_DELAY);
    }
}
