// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PauseTest {
    private static final Quorum QUORUM = new Quorum(3);
    private static final Vote GRANTED = new Vote.Granted(1);
    private static final Vote FAILED = new Vote.Failed(new Exception("no answer"));

    private static Vote conflicted(long leftMillis, long before) {
        return new Vote.Conflicted("holder", leftMillis, before);
    }

    private static long millis(List<Vote> votes, boolean held, double chance, int splits) {
        return Pause.before(votes, held, QUORUM, chance, splits).toMillis();
    }

    /** With a vote of its own it comes soon, without one it leaves the lock to those who have some. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 11, 15, 165",
        "2, 2, 22, 30, 330",
        "3, 4, 44, 60, 660",
        "4, 8, 88, 100, 1100",
        "8, 100, 1100, 100, 1100",
        "1000, 100, 1100, 100, 1100"
    })
    void whoSharesVotesComesLaterEachTime(int splits, long least, long most, long leastAside, long mostAside) {
        List<Vote> shares = List.of(GRANTED, conflicted(9_000, 0), FAILED);
        List<Vote> aside = List.of(conflicted(9_000, 0), conflicted(9_000, 0), FAILED);
        assertThat(millis(shares, false, 0, splits)).isEqualTo(least);
        assertThat(millis(shares, false, 1, splits)).isEqualTo(most);
        assertThat(millis(aside, false, 0, splits)).isEqualTo(leastAside);
        assertThat(millis(aside, false, 1, splits)).isEqualTo(mostAside);
    }

    @Test
    void S11_whoWaitsForAHolderComesWhenAMajorityOfItsKeysHasExpired() {
        List<Vote> votes = List.of(conflicted(4_000, 0), conflicted(1_000, 0), conflicted(2_000, 0));
        assertThat(millis(votes, true, 0.5, 0)).isEqualTo(2_001);
    }

    @Test
    void thoseInLineDoNotComeAllAtOnce() {
        List<Vote> votes = List.of(conflicted(1_000, 3), conflicted(1_000, 9), conflicted(1_000, 4));
        assertThat(millis(votes, true, 0.5, 0)).isEqualTo(1_001 + 400);
        List<Vote> last = List.of(conflicted(1_000, 300), conflicted(1_000, 300), FAILED);
        assertThat(millis(last, true, 0.5, 0)).isEqualTo(1_001 + 1_500);
    }

    @Test
    void S11_hintsMayBeLostSoItComesInTheEnd() {
        assertThat(Pause.before(List.of(conflicted(-1, 0), conflicted(-1, 0), FAILED), true, QUORUM, 0.5, 0))
                .isEqualTo(Pause.LONGEST)
                .isEqualTo(Duration.ofSeconds(5));
        assertThat(Pause.before(List.of(conflicted(30_000, 9), conflicted(30_000, 9), FAILED), true, QUORUM, 0.5, 0))
                .isEqualTo(Pause.LONGEST);
    }
}
