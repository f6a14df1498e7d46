// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.OwnerRecord;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Generates unpredictable attempt ids (S4). */
public final class AttemptIds {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final HexFormat HEX = HexFormat.of();

    private AttemptIds() {}

    public static String attempt() {
        byte[] id = new byte[OwnerRecord.ATTEMPT_ID_LENGTH / 2];
        RANDOM.nextBytes(id); // at once: all threads share its lock
        return HEX.formatHex(id);
    }

    public static String client() {
        return HEX.toHexDigits(RANDOM.nextLong());
    }
}
