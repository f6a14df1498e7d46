// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Tests those properties of the history checker that do not belong to a single rule. */
class HistoryCheckerTest {
    private final HandwrittenHistory history = new HandwrittenHistory();

    @Test
    void sequentialLeases_areGood() {
        history.held("a", 1, 10, 20);
        history.held("b", 2, 25, 30);
        history.held("b", 3, 35, 40);
        history.isGood();
        assertThat(history.check().grants()).isEqualTo(3);
        assertThat(history.check().handOffs()).isEqualTo(1);
    }

    @Test
    void locksAreCheckedSeparately() {
        AcquireCallId one = new AcquireCallId("a", "x", 1);
        AcquireCallId two = new AcquireCallId("b", "y", 1);
        List<HistoryEvent> events = List.of(
                new HistoryEvent.Requested(one, UncertainInstant.at(1), Optional.empty()),
                new HistoryEvent.Requested(two, UncertainInstant.at(1), Optional.empty()),
                new HistoryEvent.Granted(one, UncertainInstant.at(2), OptionalLong.of(9)),
                new HistoryEvent.Granted(two, UncertainInstant.at(3), OptionalLong.of(8)),
                new HistoryEvent.Checked(one, UncertainInstant.at(4), true),
                new HistoryEvent.Checked(two, UncertainInstant.at(4), true));
        assertThat(new HistoryChecker(HandwrittenHistory.LIMITS).check(events).violations())
                .isEmpty();
    }

    @Test
    void inconsistentEvents_areRejected() {
        AcquireCallId call = new AcquireCallId("a", "x", 1);
        List<HistoryEvent> events = List.of(new HistoryEvent.Granted(call, UncertainInstant.at(1), OptionalLong.of(1)));
        assertThatThrownBy(() -> new HistoryChecker(HandwrittenHistory.LIMITS).check(events))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("without a request");
    }
}
