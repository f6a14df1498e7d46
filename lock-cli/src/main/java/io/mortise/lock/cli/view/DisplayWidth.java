// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import java.lang.Character.UnicodeScript;
import java.util.Set;

/** Computes how many terminal columns a text occupies. */
final class DisplayWidth {
    private static final Set<UnicodeScript> WIDE = Set.of(
            UnicodeScript.HAN,
            UnicodeScript.HANGUL,
            UnicodeScript.HIRAGANA,
            UnicodeScript.KATAKANA,
            UnicodeScript.BOPOMOFO,
            UnicodeScript.YI);
    private static final int EMOJI = 0x1F300;
    private static final int EMOJI_END = 0x1FAFF;
    private static final int FULL_WIDTH = 0xFF01;
    private static final int FULL_WIDTH_END = 0xFF60;

    private DisplayWidth() {}

    static int of(String text) {
        return text.codePoints().map(DisplayWidth::of).sum();
    }

    /** Returns the text, truncated to the given number of columns. */
    static String truncate(String text, int columns) {
        int room = columns;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            room -= of(c);
            if (room < 0) {
                return text.substring(0, i);
            }
            i += Character.charCount(c);
        }
        return text;
    }

    private static int of(int c) {
        int type = Character.getType(c);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        boolean wide = (c >= EMOJI && c <= EMOJI_END)
                || (c >= FULL_WIDTH && c <= FULL_WIDTH_END)
                || (c > 0x7F && WIDE.contains(UnicodeScript.of(c)));
        return wide ? 2 : 1;
    }
}
