// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FootprintTest {
    private final Footprint footprint = new Footprint();

    @Test
    void S08_anEarlierRoundsLateAnswerDoesNotHideWhatALaterRoundMayHaveMade() {
        footprint.asking(false);
        footprint.asking(false);

        footprint.answered();
        footprint.isGone();
        assertThat(footprint.mayBeThere()).isTrue();

        footprint.answered();
        footprint.isGone();
        assertThat(footprint.mayBeThere()).isFalse();
    }

    @Test
    void whoWaitsStaysInLineThoughItHasNoVote() {
        footprint.asking(true);
        footprint.answered();
        footprint.isGone();
        assertThat(footprint.mayBeThere()).isTrue();
        assertThat(footprint.mayBeInLine()).isTrue();
    }

    @Test
    void aVoteStaysUntilItsMasterSaysThatItIsGone() {
        footprint.asking(false);
        footprint.answered();
        assertThat(footprint.mayBeThere()).isTrue();
        assertThat(footprint.mayBeInLine()).isFalse();
    }
}
