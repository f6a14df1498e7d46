// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.internal.TextEscaper;
import java.util.Objects;
import java.util.function.IntPredicate;

/**
 * A lock's name, checked: 1 to 512 bytes of UTF-8, case-sensitive, not normalised (S13).
 *
 * @param value the name as the application gave it
 */
public record LockName(String value) {
    /** Most bytes of UTF-8 in a name. */
    public static final int MAX_BYTES = 512;

    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if it is empty, too long or not valid Unicode
     */
    public LockName {
        Objects.requireNonNull(value, "name");
        if (value.isEmpty()) {
            throw new IllegalArgumentException("lock name is empty, must have 1 to " + MAX_BYTES + " bytes of UTF-8");
        }
        int bytes = TextEscaper.utf8Length(value);
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException("lock name \"" + shown(value.substring(0, Math.min(32, value.length())))
                    + "…\" has " + bytes + " bytes of UTF-8, must have at most " + MAX_BYTES);
        }
    }

    /** Letters, digits and {@code - _ . : @ + ~} stay, so that plain names can be read in the store's own tools. */
    public static boolean plainByte(int b) {
        return TextEscaper.plainByte(b);
    }

    /** {@link #escape(IntPredicate)} with {@link #plainByte}. */
    public String escaped() {
        return escape(LockName::plainByte);
    }

    /**
     * The name with all bytes but the plain ones as {@code %XX}. {@code %} is never plain, so distinct names stay distinct.
     *
     * @param plainBytes which of the bytes 0 to 127 stay
     */
    public String escape(IntPredicate plainBytes) {
        return TextEscaper.escape(value, plainBytes);
    }

    /**
     * The name for messages and logs, to stand between quotes: see {@link #shown}.
     */
    @Override
    public String toString() {
        return shown(value);
    }

    /** The inverse of {@link #escape}; throws IllegalArgumentException if the text cannot have come from there. */
    public static String unescape(String escaped) {
        return TextEscaper.unescape(escaped);
    }

    /** A name for messages and logs, which cannot forge what is beside it (S19). */
    public static String shown(String name) {
        return TextEscaper.shown(name);
    }
}
