// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventFormatTest {
    private static List<HistoryEvent> oneOfEach(String name) {
        AcquireCallId call = new AcquireCallId(name, name, 7);
        UncertainInstant at = new UncertainInstant(-5, 12);
        List<HistoryEvent> events = new ArrayList<>(List.of(
                new HistoryEvent.Requested(call, at, Optional.empty()),
                new HistoryEvent.Requested(call, at, Optional.of(Duration.ofMillis(3))),
                new HistoryEvent.Granted(call, at, OptionalLong.of(Long.MAX_VALUE)),
                new HistoryEvent.Granted(call, at, OptionalLong.empty()),
                new HistoryEvent.Checked(call, at, true),
                new HistoryEvent.Checked(call, at, false),
                new HistoryEvent.LossReported(call, at, name),
                new HistoryEvent.Releasing(call, at),
                new HistoryEvent.GaveUp(call, at, Optional.empty()),
                new HistoryEvent.GaveUp(call, at, Optional.of(name)),
                new HistoryEvent.Wrote(call, at, -1, true),
                new HistoryEvent.Wrote(call, at, 1, false)));
        for (ReleaseOutcome outcome : ReleaseOutcome.values()) {
            events.add(new HistoryEvent.Released(call, at, outcome));
        }
        for (Disturbed.Kind kind : Disturbed.Kind.values()) {
            events.add(new Disturbed(name, at, kind));
        }
        return events;
    }

    @ParameterizedTest
    @ValueSource(strings = {"inventory/42", "-", "a b\nc%20+", "ключ", ""})
    void eachEvent_isOneLine_andCanBeParsed(String name) {
        for (HistoryEvent event : oneOfEach(name)) {
            assertThat(event.line()).doesNotContain("\n");
            assertThat(HistoryEvent.parse(event.line())).isEqualTo(event);
        }
    }

    @Test
    void aHistory_canBeParsed() {
        History history = new History();
        oneOfEach("x").forEach(history::record);
        assertThat(History.of(history.lines()).events()).isEqualTo(history.events());
    }

    @Test
    void aClockOffset_shiftsAndWidensTheInstant() {
        HistoryEvent event = new HistoryEvent.Releasing(new AcquireCallId("p", "x", 1), new UncertainInstant(10, 20));
        assertThat(EventFormat.read(event.line(), new UncertainInstant(100, 103))
                        .at())
                .isEqualTo(new UncertainInstant(110, 123));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "requested", "requested 1 2 p x y -", "danced 1 2 p x 1", "checked 2 1 p x 1 held"})
    void invalidLines_areRejected(String line) {
        assertThatThrownBy(() -> HistoryEvent.parse(line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(line);
    }
}
