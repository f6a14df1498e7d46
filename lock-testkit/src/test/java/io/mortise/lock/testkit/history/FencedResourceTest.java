// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FencedResourceTest {
    @Test
    void aTokenBelowTheHighest_isRejected_perLock_andRecorded() {
        History history = new History();
        FencedResource resource = new FencedResource(history);
        AcquireCallId x = new AcquireCallId("p", "x", 1);
        AcquireCallId y = new AcquireCallId("p", "y", 2);
        assertThat(resource.write(x, 5)).isTrue();
        assertThat(resource.write(x, 5)).as("the same grant again").isTrue();
        assertThat(resource.write(y, 1)).as("another lock").isTrue();
        assertThat(resource.write(x, 4)).isFalse();
        assertThat(resource.write(x, 6)).isTrue();
        assertThat(history.events())
                .allSatisfy(event -> assertThat(event).isInstanceOf(HistoryEvent.Wrote.class))
                .extracting(event -> ((HistoryEvent.Wrote) event).accepted())
                .containsExactly(true, true, true, false, true);
    }
}
