// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.internal;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/** Escapes text for keys and records in a store, and for messages and logs. */
public final class TextEscaper {
    private static final String PLAIN = "-_.:@+~";

    /** The prefix of metadata fields in an owner record. */
    public static final String META = "meta.";

    private TextEscaper() {}

    /** Returns whether the byte is an ASCII letter, a digit or one of {@code - _ . : @ + ~}. */
    public static boolean plainByte(int b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || PLAIN.indexOf(b) >= 0;
    }

    /**
     * Returns the text in UTF-8, with each byte that is not plain written as {@code %XX}. {@code %} is never plain, so distinct
     * texts stay distinct.
     *
     * @param plainBytes which of the bytes 0 to 127 stay unescaped
     */
    public static String escape(String text, IntPredicate plainBytes) {
        if (isPlain(text, b -> b != '%' && plainBytes.test(b))) {
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

    /** Returns whether the text needs no escape. This fast path, without encoding, serves most names. */
    private static boolean isPlain(String text, IntPredicate plainBytes) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 128 || !plainBytes.test(c)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reverts {@link #escape}.
     *
     * @throws IllegalArgumentException if {@link #escape} cannot have written the text
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
                throw new IllegalArgumentException(
                        "\"" + escaped + "\" has a % without two hexadecimal digits after it");
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

    /**
     * Returns the length of the text in bytes of UTF-8.
     *
     * @throws IllegalArgumentException if it is not valid Unicode
     */
    public static int utf8Length(String text) {
        return isPlain(text, b -> true) ? text.length() : utf8(text).remaining();
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

    /** Returns the text, escaped as an attribute of an owner record: the slash also stays unescaped. */
    public static String attribute(String text) {
        return escape(text, b -> plainByte(b) || b == '/');
    }

    /** Returns the metadata as an owner record stores it: {@code " meta.KEY=VALUE"} for each entry, sorted by key. */
    public static String metadata(Map<String, String> metadata) {
        if (metadata.isEmpty()) {
            return "";
        }
        StringBuilder out = new StringBuilder();
        new TreeMap<>(metadata)
                .forEach((key, value) -> out.append(' ')
                        .append(META)
                        .append(attribute(key))
                        .append('=')
                        .append(attribute(value)));
        return out.toString();
    }

    /**
     * Returns the text for messages and logs, escaped so that it cannot forge the text around it (S19).
     *
     * <p>Quotation marks, line ends, control characters and format characters (which can control a terminal or reverse the
     * direction of text) are written as in Java, such as {@code \\n} and {@code \\"}.
     */
    public static String shown(String text) {
        if (isPlain(text, TextEscaper::isPrintable)) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 8);
        text.codePoints().forEach(c -> appendShown(out, c));
        return out.toString();
    }

    private static void appendShown(StringBuilder out, int c) {
        switch (c) {
            case '"', '\\' -> out.append('\\').append((char) c);
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
                if (isPrintable(c)) {
                    out.appendCodePoint(c);
                } else {
                    for (char unit : Character.toChars(c)) {
                        out.append(String.format(Locale.ROOT, "\\u%04x", (int) unit));
                    }
                }
            }
        }
    }

    /**
     * Returns whether {@link #shown} leaves the character unchanged: it is no quotation mark, backslash, control or format
     * character, line end, or white space other than {@code " "}.
     */
    private static boolean isPrintable(int c) {
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
