// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.TestOnlyQuarantineExemptions.Incarnation;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests that masters are exempt from quarantine only if a test client finds all of them empty. */
class TestOnlyQuarantineExemptionsTest {
    private static final Optional<Incarnation> ONE = Optional.of(incarnation("one", 1));
    private static final Optional<Incarnation> TWO = Optional.of(incarnation("two", 1));

    private static Incarnation incarnation(String runId, long quarantinedSince) {
        return new Incarnation(runId, Optional.of(new ServerTime(quarantinedSince)));
    }

    @Test
    void mastersAreNewOnlyIfAllAreEmpty() {
        assertThat(TestOnlyQuarantineExemptions.NONE.update(List.of(ONE, Optional.empty())))
                .isEqualTo(TestOnlyQuarantineExemptions.NONE);
        TestOnlyQuarantineExemptions both = TestOnlyQuarantineExemptions.NONE.update(List.of(ONE, TWO));
        assertThat(both.update(List.of(ONE, Optional.empty()))).isEqualTo(both);
        assertThat(both.contains(incarnation("one", 1))).isTrue();
        assertThat(both.contains(incarnation("one", 2))).as("lost its data").isFalse();
        assertThat(both.contains(incarnation("three", 1))).as("was restarted").isFalse();
    }
}
