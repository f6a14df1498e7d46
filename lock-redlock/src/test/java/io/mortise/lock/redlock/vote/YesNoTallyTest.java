// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.vote.YesNoTally.Answer;
import io.mortise.lock.redlock.vote.YesNoTally.Result;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the result that {@link YesNoTally} derives from answers. */
class YesNoTallyTest {
    private static Answer answer(char what) {
        return switch (what) {
            case 'y' -> Answer.YES;
            case 'n' -> Answer.NO;
            default -> Answer.NONE;
        };
    }

    /** The last letter decides the result; later answers do not change it. */
    @ParameterizedTest
    @CsvSource({
        "3, yy, ACCEPTED",
        "3, nyy, ACCEPTED",
        "3, nn, REJECTED",
        "3, -nn, REJECTED",
        "3, y-n, UNDECIDED",
        "3, ---, UNDECIDED",
        "5, yyy, ACCEPTED",
        "5, nn-yy, UNDECIDED",
        "5, nnn, REJECTED",
        "5, yynnn, REJECTED",
        "5, yynn, OPEN"
    })
    void resultIsFinalWithAMajorityOrItsImpossibility(int nodes, String answers, Result result) {
        YesNoTally tally = new YesNoTally(new Quorum(nodes));
        List<Result> results = new ArrayList<>();
        answers.chars().forEach(letter -> results.add(tally.add(answer((char) letter))));
        assertThat(results.subList(0, answers.length() - 1)).containsOnly(Result.OPEN);
        assertThat(results).last().isEqualTo(result);
        if (result != Result.OPEN) {
            for (int node = answers.length(); node < nodes; node++) {
                assertThat(tally.add(Answer.YES)).isEqualTo(Result.OPEN);
            }
        }
        assertThat(tally.no())
                .isEqualTo((int) answers.chars().filter(what -> what == 'n').count());
    }
}
