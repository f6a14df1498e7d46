// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import java.util.regex.Pattern;

/**
 * A pattern for lock names, with the shell wildcards {@code *} and {@code ?}, and backslash to escape them.
 *
 * @param prefix the prefix that all matching names have
 * @param regex a regular expression that the whole name must match
 */
record LockNamePattern(String prefix, Pattern regex) {
    static LockNamePattern of(String pattern) {
        StringBuilder prefix = new StringBuilder();
        StringBuilder regex = new StringBuilder();
        boolean literal = true;
        for (int i = 0; i < pattern.length(); ) {
            int c = pattern.codePointAt(i);
            i += Character.charCount(c);
            if (c == '*' || c == '?') {
                literal = false;
                regex.append(c == '*' ? ".*" : ".");
                continue;
            }
            if (c == '\\' && i < pattern.length()) {
                c = pattern.codePointAt(i);
                i += Character.charCount(c);
            }
            regex.append(Pattern.quote(Character.toString(c)));
            if (literal) {
                prefix.appendCodePoint(c);
            }
        }
        return new LockNamePattern(prefix.toString(), Pattern.compile(regex.toString(), Pattern.DOTALL));
    }

    boolean matches(String name) {
        return regex.matcher(name).matches();
    }
}
