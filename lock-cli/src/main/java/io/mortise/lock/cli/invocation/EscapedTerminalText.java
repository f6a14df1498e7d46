// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/** Escapes text that other clients wrote, for a terminal (S19). */
public final class EscapedTerminalText {
    private EscapedTerminalText() {}

    /**
     * The same, with an escape such as {@code \\u001b} for whatever is not seen or moves the cursor: controls, line ends, what
     * turns the direction of text, halves of characters, and code points without a meaning.
     */
    public static String safe(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (visible(c)) {
                out.appendCodePoint(c);
            } else if (c < 0x10000) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.append(String.format("\\u{%x}", c));
            }
        });
        return out.toString();
    }

    private static boolean visible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
