// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.NewMasters.Life;
import io.mortise.lock.redlock.NewMastersModel.Rule;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NewMastersTest {
    private static final Optional<Life> ONE = Optional.of(new Life("one", 1));
    private static final Optional<Life> TWO = Optional.of(new Life("two", 1));

    @Test
    void theyAreNewIfAllOfThemAre() {
        assertThat(NewMasters.NONE.after(List.of(ONE, Optional.empty()))).isEqualTo(NewMasters.NONE);
        NewMasters both = NewMasters.NONE.after(List.of(ONE, TWO));
        assertThat(both.after(List.of(ONE, Optional.empty()))).isEqualTo(both);
        assertThat(both.contain(new Life("one", 1))).isTrue();
        assertThat(both.contain(new Life("one", 2))).as("lost its data").isFalse();
        assertThat(both.contain(new Life("three", 1))).as("was restarted").isFalse();
    }

    @Test
    void S01_inNoOrderOfTwoClientsANewMasterIsTakenForOneThatForgotOrTheOtherWayRound() {
        assertThat(new NewMastersModel(Rule.DECIDED_ONCE).violation()).isEmpty();
    }

    /** Two of three are admitted before the client comes to the third. */
    @Test
    void ifEachWereJudgedByTheOthersAloneANewOneWouldHaveToWait() {
        assertThat(new NewMastersModel(Rule.EACH_BY_THE_OTHERS).violation())
                .hasValueSatisfying(events -> assertThat(events).endsWith("stands still"));
    }

    /** The other client has admitted it, and it was lost before this one looked again. */
    @Test
    void S01_ifItWereKnownByItsProcessAloneOneThatForgotWouldVote() {
        assertThat(new NewMastersModel(Rule.BY_PROCESS).violation())
                .hasValueSatisfying(events -> assertThat(events).endsWith("votes again"));
    }
}
