// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.redlock.vote.VoteTally.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the results and tokens that {@link VoteTally} derives from votes. */
class VoteTallyTest {
    private static final MasterVote FAILED = new MasterVote.Failed(new Exception("no answer"), true);

    private static MasterVote vote(char what) {
        return switch (what) {
            case 'g' -> new MasterVote.Granted(7);
            case 'c' -> new MasterVote.Conflicted("holder", 100, 0);
            default -> FAILED;
        };
    }

    @ParameterizedTest
    @CsvSource({"3,2,1,2", "4,3,1,2", "5,3,2,3", "7,4,3,4"})
    void majorityIsMoreThanHalf(int nodes, int majority, int maxFailures, int recoveryQuorum) {
        Quorum quorum = new Quorum(nodes);
        assertThat(quorum.majority()).isEqualTo(majority);
        assertThat(quorum.maxFailures()).isEqualTo(maxFailures);
        assertThat(quorum.recoveryQuorum()).isEqualTo(recoveryQuorum);
    }

    @Test
    void S14_fewerThanThreeMastersAreRejected() {
        assertThatThrownBy(() -> new Quorum(2))
                .hasMessage(
                        "Redlock needs at least 3 masters, not 2: name all of them, best an odd number, or use redis:// for a"
                                + " single server");
    }

    /** The last letter decides the result; later votes do not change it. */
    @ParameterizedTest
    @CsvSource({
        "3, gg, WON",
        "3, gcg, WON",
        "3, fgg, WON",
        "3, cc, BUSY",
        "3, cgc, BUSY",
        "3, gcf, BUSY", // two masters replied, and the third may have voted for another contender
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
    void resultIsFinalAsSoonAsNoVoteCanChangeIt(int nodes, String votes, Result result) {
        VoteTally tally = new VoteTally(new Quorum(nodes));
        for (int node = 0; node < votes.length(); node++) {
            assertThat(tally.result()).isEqualTo(Result.OPEN);
            tally = tally.with(node, vote(votes.charAt(node)));
        }
        assertThat(tally.result()).isEqualTo(result);
        for (int node = votes.length(); node < nodes && result != Result.OPEN; node++) {
            tally = tally.with(node, new MasterVote.Granted(9));
            assertThat(tally.result()).isEqualTo(result);
        }
    }

    @Test
    void S3_tokenIsTheHighestDecisiveCounter() {
        VoteTally tally = new VoteTally(new Quorum(5))
                .with(3, new MasterVote.Granted(4))
                .with(0, new MasterVote.Granted(6))
                .with(1, new MasterVote.Granted(5))
                .with(2, new MasterVote.Granted(9));
        assertThat(tally.highestCounter()).isEqualTo(6);
        assertThat(tally.isTokenUnanimous()).isFalse();
    }

    @Test
    void lateVotesDoNotRequireATokenRound() {
        VoteTally tally = new VoteTally(new Quorum(3))
                .with(0, new MasterVote.Granted(4))
                .with(2, new MasterVote.Granted(4))
                .with(1, new MasterVote.Granted(5));
        assertThat(tally.isTokenUnanimous()).isTrue();
        assertThat(tally.highestCounter()).isEqualTo(4);
    }

    @Test
    void holderNeedsAMajorityOfConflicts() {
        VoteTally shared = new VoteTally(new Quorum(3))
                .with(0, new MasterVote.Conflicted("one", 10, 0))
                .with(1, new MasterVote.Conflicted("two", 10, 0));
        assertThat(shared.holder()).isEmpty();
        assertThat(shared.with(2, new MasterVote.Conflicted("two", 10, 0)).holder())
                .contains("two");
    }

    @Test
    void masterVotesOnce() {
        VoteTally tally = new VoteTally(new Quorum(3)).with(1, FAILED);
        assertThatThrownBy(() -> tally.with(1, FAILED)).hasMessage("master 1 has voted already");
    }
}
