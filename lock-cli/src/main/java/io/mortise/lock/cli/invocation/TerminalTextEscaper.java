// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/** Escapes text that other clients wrote, so that it is safe to print on a terminal. Rule S19. */
public final class TerminalTextEscaper {
    private TerminalTextEscaper() {}

    /**
     * Returns the text with an escape such as {@code \\u001b} for each character that is invisible or moves the cursor: control
     * characters, line ends, format characters such as bidirectional controls, unpaired surrogates, and private-use and
     * unassigned code points.
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
