// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Random ids that nobody can guess (S4). */
final class Ids {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final HexFormat HEX = HexFormat.of();

    private Ids() {}

    static String attempt() {
        return HEX.toHexDigits(RANDOM.nextLong()) + HEX.toHexDigits(RANDOM.nextLong());
    }

    static String client() {
        return HEX.toHexDigits(RANDOM.nextLong());
    }
}
