// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ClockOffsetEstimatorTest {
    private final ClockOffsetEstimator offset = new ClockOffsetEstimator();

    @Test
    void eachReply_narrowsTheBounds() {
        offset.onReply(1_000, 40, 1_100); // between 960 and 1060
        assertThat(offset.toLocal()).isEqualTo(new UncertainInstant(960, 1_060));
        offset.onReply(2_000, 1_020, 2_050); // between 980 and 1030
        assertThat(offset.toLocal()).isEqualTo(new UncertainInstant(980, 1_030));
        offset.onReply(3_000, 2_010, 9_000); // a slow reply, between 990 and 6990
        assertThat(offset.toLocal()).isEqualTo(new UncertainInstant(990, 1_030));
    }

    @Test
    void clocksThatDrift_areRejected() {
        offset.onReply(1_000, 40, 1_100);
        assertThatThrownBy(() -> offset.onReply(2_000, 40, 2_100))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("drift");
    }
}
