// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.regex.Pattern;

/** Makes text from a store or a test safe to show, by escaping control characters and bidirectional formatting characters. */
final class PrintableText {
    private static final Pattern UNSAFE =
            Pattern.compile("[\\p{Cntrl}\\u0080-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\uffff&&[^\\n\\t]]");
    private static final int MAX_NAME = 48;

    private PrintableText() {}

    /** Returns the text with its line breaks and without other control characters. */
    static String of(String text) {
        return UNSAFE.matcher(text.replace("\r\n", "\n"))
                .replaceAll(
                        match -> String.format("\\\\u%04x", (int) match.group().charAt(0)));
    }

    /** Returns a name on one line; a long one is shortened, with its length. */
    static String name(String name) {
        String line = of(name).replace("\n", "\\n").replace("\t", "\\t");
        return line.length() <= MAX_NAME
                ? line
                : line.substring(0, line.offsetByCodePoints(0, MAX_NAME / 2)) + "… (" + name.length() + " characters)";
    }
}
