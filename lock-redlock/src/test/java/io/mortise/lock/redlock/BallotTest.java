// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.redlock.Ballot.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BallotTest {
    private static final Vote FAILED = new Vote.Failed(new Exception("no answer"));

    private static Vote vote(char what) {
        return switch (what) {
            case 'g' -> new Vote.Granted(7);
            case 'c' -> new Vote.Conflicted("holder", 100, 0);
            default -> FAILED;
        };
    }

    @ParameterizedTest
    @CsvSource({"3,2,1,2", "4,3,1,2", "5,3,2,3", "7,4,3,4"})
    void aMajorityIsMoreThanHalf(int nodes, int majority, int spare, int knowsAll) {
        Quorum quorum = new Quorum(nodes);
        assertThat(quorum.majority()).isEqualTo(majority);
        assertThat(quorum.spare()).isEqualTo(spare);
        assertThat(quorum.knowsAll()).isEqualTo(knowsAll);
    }

    @Test
    void S14_lessThanThreeMastersAreRefused() {
        assertThatThrownBy(() -> new Quorum(2)).hasMessage("2 masters, must be at least 3");
    }

    /** The verdict comes with the last letter, not before, and what follows changes nothing. */
    @ParameterizedTest
    @CsvSource({
        "3, gg, WON",
        "3, gcg, WON",
        "3, fgg, WON",
        "3, cc, BUSY",
        "3, cgc, BUSY",
        "3, gcf, BUSY", // two have answered: somebody may have the third
        "3, gfc, BUSY",
        "3, cfg, BUSY",
        "3, ff, NO_QUORUM",
        "3, gff, NO_QUORUM",
        "3, cff, NO_QUORUM",
        "5, ggg, WON",
        "5, ccggg, WON",
        "5, ccc, BUSY",
        "5, ffgc, OPEN",
        "5, ffgcg, BUSY",
        "5, ccgf, BUSY",
        "5, fcfc, OPEN",
        "5, fcfcf, NO_QUORUM",
        "5, fff, NO_QUORUM",
        "5, ffggg, WON"
    })
    void isDecidedAsSoonAsNothingCanChangeIt(int nodes, String votes, Verdict verdict) {
        Ballot ballot = new Ballot(new Quorum(nodes));
        List<Verdict> verdicts = new ArrayList<>();
        for (int node = 0; node < votes.length(); node++) {
            verdicts.add(ballot.cast(node, vote(votes.charAt(node))));
        }
        assertThat(verdicts.subList(0, votes.length() - 1)).containsOnly(Verdict.OPEN);
        assertThat(verdicts).last().isEqualTo(verdict);
        if (verdict != Verdict.OPEN) {
            for (int node = votes.length(); node < nodes; node++) {
                assertThat(ballot.cast(node, new Vote.Granted(9))).isEqualTo(Verdict.OPEN);
            }
        }
    }

    @Test
    void S3_theTokenIsTheHighestOfThoseWhoDecided() {
        Ballot ballot = new Ballot(new Quorum(5));
        ballot.cast(3, new Vote.Granted(4));
        ballot.cast(0, new Vote.Granted(6));
        ballot.cast(1, new Vote.Granted(5));
        ballot.cast(2, new Vote.Granted(9));
        assertThat(ballot.token()).isEqualTo(6);
        assertThat(ballot.isUnanimous()).isFalse();
    }

    @Test
    void lateVotesDoNotMakeASecondPhaseNecessary() {
        Ballot ballot = new Ballot(new Quorum(3));
        ballot.cast(0, new Vote.Granted(4));
        ballot.cast(2, new Vote.Granted(4));
        ballot.cast(1, new Vote.Granted(5));
        assertThat(ballot.isUnanimous()).isTrue();
        assertThat(ballot.token()).isEqualTo(4);
    }

    @Test
    void knowsWhoHasTheLockFromWhoSharesTheVotes() {
        Ballot shared = new Ballot(new Quorum(3));
        shared.cast(0, new Vote.Conflicted("one", 10, 0));
        shared.cast(1, new Vote.Conflicted("two", 10, 0));
        assertThat(shared.holder()).isEmpty();
        shared.cast(2, new Vote.Conflicted("two", 10, 0));
        assertThat(shared.holder()).contains("two");
    }

    @Test
    void aMasterVotesOnce() {
        Ballot ballot = new Ballot(new Quorum(3));
        ballot.cast(1, FAILED);
        assertThatThrownBy(() -> ballot.cast(1, FAILED)).hasMessage("master 1 has voted already");
    }
}
