// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockNamePatternTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            inventory/*  | inventory/     | inventory/42     | inventory
            *            | ''             | a/b              | -
            *.log        | ''             | x.log            | xlog
            a?c*         | a              | abc/d            | ac
            a?c          | a              | a🔒c              | abbc
            plain        | plain          | plain            | plain2
            a\\*b        | a*b            | a*b              | axb
            a[b]+(c      | a[b]+(c        | a[b]+(c          | ab
            """)
    void matchesLikeTheShell(String pattern, String prefix, String matching, String other) {
        LockNamePattern parsed = LockNamePattern.of(pattern);
        assertThat(parsed.prefix()).isEqualTo(prefix);
        assertThat(parsed.matches(matching)).isTrue();
        assertThat(other.equals("-") || !parsed.matches(other)).isTrue();
    }

    @org.junit.jupiter.api.Test
    void aWildcardMatchesLineEnds() {
        assertThat(LockNamePattern.of("a*c").matches("a\n\nc")).isTrue();
    }
}
