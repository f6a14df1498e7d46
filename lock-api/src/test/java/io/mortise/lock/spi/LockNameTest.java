// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the limits and the escaping of lock names. */
class LockNameTest {
    @Test
    void S13_limitsAreInBytes() {
        assertThat(new LockName("é".repeat(256)).value()).hasSize(256);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LockName("é".repeat(257)))
                .withMessageContaining("514")
                .withMessageContaining("512");
        assertThatIllegalArgumentException().isThrownBy(() -> new LockName("")).withMessageContaining("empty");
    }

    @Test
    void S13_unpairedSurrogatesAreRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> new LockName("a\ud800b"));
        assertThatIllegalArgumentException().isThrownBy(() -> new LockName("\udc00"));
        assertThat(LockName.ofEscaped(new LockName("😀").escaped())).hasValue(new LockName("😀"));
    }

    @Test
    void S13_plainNamesStayReadable() {
        assertThat(new LockName("inventory/42").escaped()).isEqualTo("inventory%2F42");
        assertThat(new LockName("a-_.:@+~Z9%").escaped()).isEqualTo("a-_.:@+~Z9%25");
    }

    @Test
    void S13_escapeIsInjectiveAndReversible() {
        Random random = new Random(1);
        String letters = "a%2F/ é😀\u0000Z";
        Map<String, String> from = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder("x");
            for (int n = random.nextInt(5); n > 0; n--) {
                int at = letters.offsetByCodePoints(0, random.nextInt(letters.codePointCount(0, letters.length())));
                text.appendCodePoint(letters.codePointAt(at));
            }
            String name = text.toString();
            String escaped = escapedMore(new LockName(name));
            assertThat(escaped.getBytes(StandardCharsets.UTF_8)).hasSize(escaped.length());
            assertThat(LockName.ofEscaped(escaped, LockNameTest::escapedMore)).hasValue(new LockName(name));
            String other = from.putIfAbsent(escaped, name);
            assertThat(other == null ? name : other).isEqualTo(name);
        }
    }

    private static String escapedMore(LockName name) {
        return name.escape(b -> b == 'a' || b == '/' || b == '%');
    }

    @Test
    void S13_aTextThatNoNameIsEscapedToHasNoName() {
        for (String bad : new String[] {"", "%", "%4", "%zz", "a%F", "%FF", "a b", "a/b", "a%2fb", "%61"}) {
            assertThat(LockName.ofEscaped(bad)).as(bad).isEmpty();
        }
    }

    @Test
    void S19_aNameInAMessageCannotForgeTheTextAroundIt() {
        assertThat(new LockName("item/l\u00e4mp").toString()).isEqualTo("item/l\u00e4mp");
        assertThat(new LockName("a\"\nevent=x \\\u001b[31m\u202eb\u2028\u0085\u00a0").toString())
                .isEqualTo("a\\\"\\nevent=x \\\\\\u001b[31m\\u202eb\\u2028\\u0085\\u00a0");
        assertThat(new LockName("\ud83d\udd12").toString()).isEqualTo("\ud83d\udd12");
        assertThat(new LockName("\ud840\udc00\udb40\udc01").toString()).isEqualTo("\ud840\udc00\\udb40\\udc01");
    }
}
