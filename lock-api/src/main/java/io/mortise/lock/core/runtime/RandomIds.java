// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.OwnerRecordCodec;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Generates random ids for attempts and clients. Rule S4. */
public final class RandomIds {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final HexFormat HEX = HexFormat.of();

    private RandomIds() {}

    /** Returns a new attempt id: 128 random bits in hexadecimal. */
    public static String attempt() {
        byte[] id = new byte[OwnerRecordCodec.ATTEMPT_ID_LENGTH / 2];
        RANDOM.nextBytes(id); // one call, because all threads share the lock of the generator
        return HEX.formatHex(id);
    }

    /** Returns a new client id: 64 random bits in hexadecimal. */
    public static String client() {
        return HEX.toHexDigits(RANDOM.nextLong());
    }
}
