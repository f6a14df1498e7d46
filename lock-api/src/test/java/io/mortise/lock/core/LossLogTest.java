// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.slf4j.event.EventRecordingLogger;
import org.slf4j.event.Level;
import org.slf4j.event.SubstituteLoggingEvent;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.SubstituteLogger;

class LossLogTest {
    private static final LossReason SILENT = new LossReason(LossReason.Kind.EXPIRED, "no renewal succeeded");
    private static final LossReason REMOVED = new LossReason(LossReason.Kind.REMOVED, "by an operator");

    private final ManualClock clock = new ManualClock();
    private final Queue<SubstituteLoggingEvent> events = new ArrayDeque<>();
    private final LossLog log =
            new LossLog(clock, new EventRecordingLogger(new SubstituteLogger("losses", events, true), events));

    private void lose(int count, LossReason reason) {
        for (int i = 0; i < count; i++) {
            log.lost(new LockName("a \"b\"\n" + i), "me", i, reason);
        }
    }

    private List<String> warnings() {
        return events.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(event -> MessageFormatter.basicArrayFormat(event.getMessage(), event.getArgumentArray()))
                .toList();
    }

    @Test
    void S07_anOutageThatEndsManyLeasesIsAFewLinesWithTheCount() {
        lose(9_000, SILENT);
        lose(1_000, REMOVED);
        clock.advance(Duration.ofSeconds(1));
        assertThat(warnings()).hasSize(12);
        assertThat(warnings().get(0))
                .isEqualTo(
                        "event=lost lock=\"a \\\"b\\\"\\n0\" owner=me token=0 reason=\"EXPIRED (no renewal succeeded)\"");
        assertThat(warnings().subList(10, 12))
                .containsExactly(
                        "event=lost-more count=8990 reason=\"EXPIRED (no renewal succeeded)\"",
                        "event=lost-more count=1000 reason=\"REMOVED (by an operator)\"");
    }

    @Test
    void S07_aLossLaterOnIsALineOfItsOwnAgain() {
        lose(11, SILENT);
        clock.advance(Duration.ofSeconds(2));
        lose(1, REMOVED);
        assertThat(warnings()).hasSize(12).last().asString().contains("lock=", "REMOVED");
    }

    @Test
    void S07_aClientThatEndsSaysWhatIsLeft() {
        lose(11, SILENT);
        log.flush();
        log.flush();
        assertThat(warnings()).hasSize(11).last().asString().contains("event=lost-more count=1 ");
    }
}
