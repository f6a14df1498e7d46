// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.Poll.Answer;
import io.mortise.lock.redlock.Poll.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PollTest {
    private static Answer answer(char what) {
        return switch (what) {
            case 'y' -> Answer.YES;
            case 'n' -> Answer.NO;
            default -> Answer.NONE;
        };
    }

    /** The verdict comes with the last letter, not before, and what follows changes nothing. */
    @ParameterizedTest
    @CsvSource({
        "3, yy, CARRIED",
        "3, nyy, CARRIED",
        "3, nn, REFUSED",
        "3, -nn, REFUSED",
        "3, y-n, UNDECIDED",
        "3, ---, UNDECIDED",
        "5, yyy, CARRIED",
        "5, nn-yy, UNDECIDED",
        "5, nnn, REFUSED",
        "5, yynnn, REFUSED",
        "5, yynn, OPEN"
    })
    void isDecidedByAMajorityOrByItsImpossibility(int nodes, String answers, Verdict verdict) {
        Poll poll = new Poll(new Quorum(nodes));
        List<Verdict> verdicts = new ArrayList<>();
        answers.chars().forEach(letter -> verdicts.add(poll.answer(answer((char) letter))));
        assertThat(verdicts.subList(0, answers.length() - 1)).containsOnly(Verdict.OPEN);
        assertThat(verdicts).last().isEqualTo(verdict);
        if (verdict != Verdict.OPEN) {
            for (int node = answers.length(); node < nodes; node++) {
                assertThat(poll.answer(Answer.YES)).isEqualTo(Verdict.OPEN);
            }
        }
        assertThat(poll.no())
                .isEqualTo((int) answers.chars().filter(what -> what == 'n').count());
    }
}
