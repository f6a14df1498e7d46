// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.master.TestOnlyQuarantineExemptionsModel.Rule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the rule that exempts masters from quarantine in all orders of events, and that weaker rules would fail. */
@Tag("once")
class TestOnlyQuarantineExemptionsModelTest {
    @Test
    void S01_newMastersAndForgetfulMastersAreNeverConfused() {
        assertThat(new TestOnlyQuarantineExemptionsModel(Rule.DECIDED_ONCE).violation())
                .isEmpty();
    }

    /** Two of three masters may leave quarantine before the client reaches the third. */
    @Test
    void decidingEachMasterByItsPeersWouldQuarantineANewMaster() {
        assertThat(new TestOnlyQuarantineExemptionsModel(Rule.EACH_BY_THE_OTHERS).violation())
                .hasValueSatisfying(events -> assertThat(events).endsWith("stalls"));
    }

    /** Another client ended the quarantine of the master, which lost its data before this client repeated its handshake. */
    @Test
    void S01_identifyingMastersByProcessAloneWouldLetAForgetfulMasterVote() {
        assertThat(new TestOnlyQuarantineExemptionsModel(Rule.BY_PROCESS).violation())
                .hasValueSatisfying(events -> assertThat(events).endsWith("votes again"));
    }
}
