// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrantMessageTest {
    private static final String ATTEMPT = "0123456789abcdef0123456789abcdef";
    private static final String SIGNATURE = "01234".repeat(8);

    @Test
    void bothFormsAreParsed() {
        assertThat(GrantMessage.parse(
                        "G " + ATTEMPT + " 1795284523123456 1795284523123457 " + SIGNATURE + " lock:x%20y"))
                .contains(new GrantMessage.Granted(
                        ATTEMPT,
                        1_795_284_523_123_456L,
                        new ServerTime(1_795_284_523_123_457L),
                        "lock:x%20y",
                        "G " + ATTEMPT + " 1795284523123456 1795284523123457 lock:x%20y",
                        SIGNATURE));
        assertThat(GrantMessage.parse("W " + ATTEMPT + " " + SIGNATURE + " lock:x"))
                .contains(new GrantMessage.Wake(ATTEMPT, "lock:x", "W " + ATTEMPT + " lock:x", SIGNATURE));
    }

    @Test
    void S19_anythingElseIsIgnored() {
        for (String text : List.of(
                "",
                "G",
                "W",
                "hello",
                "G " + ATTEMPT,
                "G " + ATTEMPT + " 1",
                "G " + ATTEMPT + " 1 2",
                "G " + ATTEMPT + " 1 2 lock:x",
                "W " + ATTEMPT + " lock:x",
                "G " + ATTEMPT + " 1 -2 " + SIGNATURE + " lock:x",
                "G " + ATTEMPT + " 1 2 3 " + SIGNATURE + " lock:x",
                "G " + ATTEMPT + " 12345678901234567 1 " + SIGNATURE + " lock:x",
                "W " + ATTEMPT,
                "W " + ATTEMPT + "0 " + SIGNATURE + " lock:x",
                "W " + ATTEMPT.replace('a', 'A') + " " + SIGNATURE + " lock:x",
                "W " + ATTEMPT + " " + SIGNATURE + " lock:x\n")) {
            assertThat(GrantMessage.parse(text)).as(text).isEmpty();
        }
    }
}
