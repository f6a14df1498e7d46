// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how tables are aligned and truncated on a terminal. */
@Tag("once")
class TextTableTest {
    @Test
    void columnsAreAlignedByTheirWidthOnATerminal() {
        TextTable table = new TextTable("NAME", "PID");
        table.row("\u4e16\u754c", "1");
        table.row("e\u0301", "2");
        table.row("\uff21\ud83d\ude00", "3");
        assertThat(table.lines())
                .containsExactly("NAME  PID", "\u4e16\u754c  1", "e\u0301     2", "\uff21\ud83d\ude00  3");
    }

    @Test
    void aLineIsTruncatedBeforeTheFirstCharacterThatDoesNotFit() {
        assertThat(DisplayWidth.truncate("abc", 3)).isEqualTo("abc");
        assertThat(DisplayWidth.truncate("abcd", 3)).isEqualTo("abc");
        assertThat(DisplayWidth.truncate("ab\u4e16", 3)).isEqualTo("ab");
        assertThat(DisplayWidth.truncate("ab\ud83d\ude00", 4)).isEqualTo("ab\ud83d\ude00");
        assertThat(DisplayWidth.truncate("e\u0301", 1)).isEqualTo("e\u0301");
    }

    @ParameterizedTest
    @CsvSource({"-PT1H, 0s", "PT0.9S, 0s", "PT59S, 59s", "PT61S, 1m1s", "PT3H59M59S, 3h59m", "PT26H, 1d2h"})
    void agesHaveAtMostTwoUnits(Duration age, String shown) {
        Instant now = Instant.parse("2030-01-01T00:00:00Z");
        LockHolder holder =
                LockHolder.of("0123456789", "").since(now.minus(age)).token(7);
        LockStatus lock = new LockStatus("x", List.of(holder), List.of());
        assertThat(LockTable.live(List.of(lock), now).get(1)).matches("x +01234567 +- +- +" + shown + " +7 +0");
    }
}
