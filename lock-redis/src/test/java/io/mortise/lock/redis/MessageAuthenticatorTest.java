// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class MessageAuthenticatorTest {
    @Test
    void S19_nonceIsAnHmacOfTheAttemptId() throws Exception {
        byte[] key = new byte[64];
        new Random(1).nextBytes(key);
        MessageAuthenticator signer = new MessageAuthenticator(key);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        for (String attempt : new String[] {"0123456789abcdef0123456789abcdef", "f".repeat(32)}) {
            byte[] expected = mac.doFinal(attempt.getBytes(StandardCharsets.US_ASCII));
            assertThat(signer.nonce(attempt)).isEqualTo(HexFormat.of().formatHex(expected, 0, 16));
        }
    }
}
