// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class TerminalTextEscaperTest {
    @Test
    void S19_invisibleCharactersAndCursorMovesAreEscaped() {
        assertThat(TerminalTextEscaper.safe("a\u001b[2J\r\n\tb\u0085\u2028\u202e\u200b\u007f\u0000"))
                .isEqualTo("a\\u001b[2J\\u000d\\u000a\\u0009b\\u0085\\u2028\\u202e\\u200b\\u007f\\u0000");
        assertThat(TerminalTextEscaper.safe("\ud800x\udc00")).isEqualTo("\\ud800x\\udc00");
        assertThat(TerminalTextEscaper.safe(Character.toString(0xe0001))).isEqualTo("\\u{e0001}");
    }

    @Test
    void readableTextIsUnchanged() {
        String text = "inventory/42 ключ 日本 \\n \ud83d\udd12 é";
        assertThat(TerminalTextEscaper.safe(text)).isEqualTo(text);
    }

    @Test
    void S19_jsonIsPlainAscii() {
        assertThat(JsonFormatter.of(Map.of("k", "\u001b\u007f\u0085é\n")))
                .isEqualTo("{\"k\":\"\\u001B\\u007f\\u0085\\u00E9\\n\"}");
    }
}
