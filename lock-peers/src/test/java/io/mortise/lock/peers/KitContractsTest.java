// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class KitContractsTest {
    @Test
    void aTestIsFoundInItsContract() {
        assertThat(KitContracts.of("S01_oneCandidateOfAnElectionLeads")).contains("Election");
        assertThat(KitContracts.of("S09_zeroIsOneAttempt")).contains("Waiting");
        assertThat(KitContracts.of("S99_noSuchTest")).isEmpty();
    }

    @Test
    void thePatternOfAContractMatchesItsTestsAlone() {
        Pattern tests = Pattern.compile(KitContracts.testsOf("Election", "LockGroup"));
        assertThat(tests.matcher("S01_oneCandidateOfAnElectionLeads").matches()).isTrue();
        assertThat(tests.matcher("S01_aGroupIsGrantedAsAWhole").matches()).isTrue();
        assertThat(tests.matcher("S09_zeroIsOneAttempt").matches()).isFalse();
        assertThatThrownBy(() -> KitContracts.testsOf("Election", "Renamed"))
                .hasMessage("the kit has no tests of RenamedContract");
    }

    /** The adapters offer locks only; what Mortise builds on a lock says nothing about the peers. */
    @Test
    void testsOfElectionsAndGroupsAreLeftOut() {
        for (String test : new String[] {"S01_oneCandidateOfAnElectionLeads", "S01_aGroupIsGrantedAsAWhole"}) {
            assertThat(Peers.all())
                    .allSatisfy(peer -> assertThat(PeerTestFilter.reasonToSkip(peer, test, ""))
                            .hasValueSatisfying(reason -> assertThat(reason).startsWith("not checked: ")));
        }
    }
}
