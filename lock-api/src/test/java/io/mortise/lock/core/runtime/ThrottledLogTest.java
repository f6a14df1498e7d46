// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.LossReason.Kind;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** Tests that only the first few warnings of an event are logged, and the others are counted. */
class ThrottledLogTest {
    private final ManualClock clock = new ManualClock();
    private final RecordedLog recorded = new RecordedLog();
    private final ThrottledLog log = new ThrottledLog(clock, recorded.logger);

    private void lose(int count, Kind kind) {
        for (int i = 0; i < count; i++) {
            log.warn(
                    "lost",
                    kind,
                    "lock=\"{}\" reason=\"{}\"",
                    new LockName("a \"b\"\n" + i),
                    new LossReason(kind, "r" + i));
        }
    }

    private List<String> warnings() {
        return recorded.lines(Level.WARN);
    }

    @Test
    void S07_anOutageThatEndsManyLeasesIsAFewLinesWithTheirNumber() {
        lose(9_000, Kind.EXPIRED);
        lose(1_000, Kind.REMOVED);
        clock.advance(Duration.ofSeconds(10));
        assertThat(warnings()).hasSize(7);
        assertThat(warnings().get(0)).isEqualTo("WARN event=lost lock=\"a \\\"b\\\"\\n0\" reason=\"EXPIRED (r0)\"");
        assertThat(warnings().subList(5, 7))
                .containsExactlyInAnyOrder(
                        "WARN event=lost-more count=8995 kind=EXPIRED", "WARN event=lost-more count=1000 kind=REMOVED");
        assertThat(recorded.lines(Level.DEBUG))
                .as("each event is logged at DEBUG or WARN")
                .hasSize(10_002);
    }

    @Test
    void S07_aLaterLossHasItsOwnLineAgain() {
        lose(6, Kind.EXPIRED);
        clock.advance(Duration.ofSeconds(11));
        lose(1, Kind.REMOVED);
        assertThat(warnings()).hasSize(7).last().asString().contains("lock=", "REMOVED");
    }

    @Test
    void S08_warningsThatContinueForAnHourAreLoggedLessAndLessOften() {
        for (int i = 0; i < 3_600; i++) {
            lose(100, Kind.EXPIRED);
            clock.advance(Duration.ofSeconds(1));
        }
        assertThat(warnings()).hasSizeLessThan(80);
        clock.advance(Duration.ofHours(1));
        int before = warnings().size();
        lose(6, Kind.REMOVED);
        clock.advance(Duration.ofSeconds(10));
        assertThat(warnings()).as("as at the start, after a quiet time").hasSize(before + 6);
    }

    @Test
    void S07_eachEventHasItsOwnLimit() {
        lose(1_000, Kind.EXPIRED);
        log.warn("self-wait", "SAME_CLIENT", "lock=\"{}\"", "x");
        assertThat(warnings()).last().isEqualTo("WARN event=self-wait lock=\"x\"");
    }

    @Test
    void S07_flushLogsTheEventsThatWereOnlyCounted() {
        lose(6, Kind.EXPIRED);
        log.flush();
        log.flush();
        assertThat(warnings()).hasSize(6).last().asString().contains("event=lost-more count=1 ");
    }
}
