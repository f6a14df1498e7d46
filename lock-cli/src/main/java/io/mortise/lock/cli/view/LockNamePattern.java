// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import java.util.regex.Pattern;

/**
 * A shell pattern for lock names: {@code *}, {@code ?} and backslash.
 *
 * @param prefix what all such names begin with
 * @param whole true for the names
 */
record LockNamePattern(String prefix, Pattern whole) {
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
        return whole.matcher(name).matches();
    }
}
