// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
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

    private static final String PLAIN = "-_.:@+~";

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
        int bytes = staysAsItIs(value, b -> true) ? value.length() : utf8(value).remaining();
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException("lock name \"" + shown(value.substring(0, Math.min(32, value.length())))
                    + "…\" has " + bytes + " bytes of UTF-8, must have at most " + MAX_BYTES);
        }
    }

    /** Letters, digits and {@code - _ . : @ + ~} stay, so that plain names can be read in the store's own tools. */
    public static boolean plainByte(int b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || PLAIN.indexOf(b) >= 0;
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
        return escape(value, plainBytes);
    }

    static String escape(String text, IntPredicate plainBytes) {
        if (staysAsItIs(text, b -> b != '%' && plainBytes.test(b))) {
            return text;
        }
        ByteBuffer bytes = utf8(text);
        StringBuilder out = new StringBuilder(bytes.remaining() + 8);
        while (bytes.hasRemaining()) {
            int b = bytes.get() & 0xff;
            if (b < 128 && b != '%' && plainBytes.test(b)) {
                out.append((char) b);
            } else {
                out.append('%').append(String.format(Locale.ROOT, "%02X", b));
            }
        }
        return out.toString();
    }

    /** So it is with most names: nothing needs to be encoded to know. */
    private static boolean staysAsItIs(String text, IntPredicate plainBytes) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 128 || !plainBytes.test(c)) {
                return false;
            }
        }
        return true;
    }

    /**
     * What {@link #escape} came from.
     *
     * @throws IllegalArgumentException if the text cannot have come from there
     */
    public static String unescape(String escaped) {
        byte[] raw = escaped.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(raw.length);
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != '%') {
                out.put(raw[i]);
                continue;
            }
            int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
            int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw new IllegalArgumentException("\"" + escaped + "\" has a % that no two hexadecimal digits follow");
            }
            out.put((byte) (high * 16 + low));
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(out.flip())
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("\"" + escaped + "\" is not UTF-8 when unescaped", e);
        }
    }

    private static ByteBuffer utf8(String text) {
        try {
            return StandardCharsets.UTF_8
                    .newEncoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .encode(CharBuffer.wrap(text));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("text has an unpaired surrogate, must be valid Unicode", e);
        }
    }

    /**
     * The name for messages and logs, to stand between quotes: see {@link #shown}.
     */
    @Override
    public String toString() {
        return shown(value);
    }

    /**
     * A name for messages and logs. What could end its quotes or the line, steer a terminal or turn text around is written as
     * in Java, such as {@code \\n} and {@code \\"}: no name can forge what stands beside it (S19).
     */
    public static String shown(String name) {
        if (name.codePoints().allMatch(LockName::isShownAsItIs)) {
            return name;
        }
        StringBuilder out = new StringBuilder(name.length() + 8);
        name.codePoints().forEach(c -> appendShown(out, c));
        return out.toString();
    }

    private static void appendShown(StringBuilder out, int c) {
        switch (c) {
            case '"', '\\' -> out.append('\\').append((char) c);
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
                if (isShownAsItIs(c)) {
                    out.appendCodePoint(c);
                } else {
                    for (char unit : Character.toChars(c)) {
                        out.append(String.format(Locale.ROOT, "\\u%04x", (int) unit));
                    }
                }
            }
        }
    }

    /** No quote, no control character, no format character such as those that turn text around, no line end, no white space but " ". */
    private static boolean isShownAsItIs(int c) {
        if (c == '"' || c == '\\') {
            return false;
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.PRIVATE_USE,
                    Character.SURROGATE,
                    Character.UNASSIGNED -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> true;
        };
    }
}
