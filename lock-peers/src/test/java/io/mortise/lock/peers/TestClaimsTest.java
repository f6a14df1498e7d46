// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class TestClaimsTest {
    private final TestClaims claims = new TestClaims();

    @Test
    void theFirstMissingGuaranteeIsRemembered() {
        assertThat(claims.missing()).isEmpty();
        assertThat(claims.abort(Claim.WAITING)).hasMessage("never claimed: waiting for a held lock");
        claims.abort("a maximum hold");
        assertThat(claims.missing()).contains(Claim.WAITING.description());
    }

    @Test
    void eachFurtherCallIsAborted() {
        assertThatCode(claims::requireNoAbort).doesNotThrowAnyException();
        claims.abort("a maximum hold");
        assertThatThrownBy(claims::requireNoAbort)
                .isInstanceOf(TestAbortedException.class)
                .hasMessage("never claimed: a maximum hold");
    }

    @Test
    void onlyTheTestsOfTheRuleOnLossesAreAboutThem() {
        claims.begin("S07_nothingIsAnnouncedAfterARelease");
        assertThat(claims.isAboutLosses()).isTrue();
        claims.begin("S01_historyOfSeveralClients");
        assertThat(claims.isAboutLosses()).isFalse();
    }
}
