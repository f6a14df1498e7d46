// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.internal.TextEscaper;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The validated name of a lock: 1 to 512 bytes of UTF-8, case-sensitive, not normalised. Rule S13.
 *
 * @param value the name as the application passed it
 */
public record LockName(String value) {
    /** The maximum length of a name, in bytes of UTF-8. */
    public static final int MAX_BYTES = 512;

    /**
     * Validates the name.
     *
     * @throws IllegalArgumentException if the name is empty, too long or not valid Unicode
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

    /**
     * Returns whether the byte is an ASCII letter, a digit or one of {@code - _ . : @ + ~}. These stay unescaped, so that
     * common names are readable in the store's own tools.
     */
    public static boolean plainByte(int b) {
        return TextEscaper.plainByte(b);
    }

    /** Returns the name, escaped as by {@link #escape(IntPredicate)} with {@link #plainByte}. */
    public String escaped() {
        return escape(LockName::plainByte);
    }

    /**
     * Returns the name with each byte that is not plain written as {@code %XX}. {@code %} is never plain, so distinct names
     * stay distinct.
     *
     * @param plainBytes which of the bytes 0 to 127 stay unescaped
     */
    public String escape(IntPredicate plainBytes) {
        return TextEscaper.escape(value, plainBytes);
    }

    /** Written out, because the code of a record for this is made at run time: the first acquire would wait for it. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockName name && value.equals(name.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    /** Returns the name for messages and logs, to be put between quotation marks; see {@link #shown}. */
    @Override
    public String toString() {
        return shown(value);
    }

    /** Returns the name whose {@link #escaped} form is this text; empty if there is none, as for another program's key. */
    public static Optional<LockName> ofEscaped(String text) {
        return ofEscaped(text, LockName::escaped);
    }

    /**
     * Returns the name whose form by {@code escaping} is this text; empty if there is none.
     *
     * @param escaping escapes names as {@link #escape} does; it may escape further bytes of some names
     */
    public static Optional<LockName> ofEscaped(String text, Function<LockName, String> escaping) {
        try {
            return Optional.of(new LockName(TextEscaper.unescape(text)))
                    .filter(name -> escaping.apply(name).equals(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Returns the name for messages and logs, escaped so that it cannot forge the text around it (S19). */
    public static String shown(String name) {
        return TextEscaper.shown(name);
    }
}
