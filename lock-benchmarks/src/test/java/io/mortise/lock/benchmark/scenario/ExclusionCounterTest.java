// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.mortise.lock.benchmark.backend.HeldGrant;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ExclusionCounterTest {
    private final ExclusionCounter exclusion = new ExclusionCounter("x", true);

    private static HeldGrant token(OptionalLong token) {
        return new HeldGrant() {
            @Override
            public OptionalLong token() {
                return token;
            }

            @Override
            public void release() {}

            @Override
            public void releaseAsync() {}
        };
    }

    private void grant(int client, long token) {
        exclusion.enter(client, token(OptionalLong.of(token)));
    }

    private void assertViolated(String what) {
        assertThatExceptionOfType(ExclusionViolationException.class)
                .isThrownBy(() -> exclusion.verify("here"))
                .withMessage("here: mutual exclusion violated on lock \"x\": " + what);
    }

    @Test
    void consecutiveGrantsAreNoViolation() {
        grant(0, 1);
        exclusion.leave();
        grant(0, 2);
        exclusion.leave();
        grant(1, 7);
        exclusion.leave();
        exclusion.verify("here");
        assertThat(exclusion.handOffs()).as("to 0, then to 1").isEqualTo(2);
    }

    @Test
    void concurrentHoldersAreAViolation() {
        grant(0, 1);
        grant(1, 2);
        exclusion.leave();
        exclusion.leave();
        assertViolated("2 clients held it at the same time");
    }

    @Test
    void tokenThatDoesNotIncreaseIsAViolation() {
        grant(0, 5);
        exclusion.leave();
        grant(1, 5);
        exclusion.leave();
        assertViolated("token 5 was granted after token 5");
    }

    @Test
    void competitorsWithoutTokensAreNotCheckedForThem() {
        exclusion.enter(0, token(OptionalLong.empty()));
        exclusion.leave();
        exclusion.enter(1, token(OptionalLong.empty()));
        exclusion.leave();
        exclusion.verify("here");
    }
}
