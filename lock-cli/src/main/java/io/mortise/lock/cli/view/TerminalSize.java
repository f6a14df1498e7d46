// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The size of the terminal. Java cannot ask for it: {@code stty} does. */
record TerminalSize(int rows, int columns) {
    private static final TerminalSize USUAL = new TerminalSize(24, 80);
    private static final Pattern SIZE = Pattern.compile("(\\d{1,5}) (\\d{1,5})\\s*");

    /** As it is now; 24 by 80 if nobody knows. */
    static TerminalSize now() {
        try {
            Process stty = new ProcessBuilder("sh", "-c", "stty size </dev/tty")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            Matcher size = SIZE.matcher(new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
            if (size.matches() && !size.group(1).equals("0") && !size.group(2).equals("0")) {
                return new TerminalSize(Integer.parseInt(size.group(1)), Integer.parseInt(size.group(2)));
            }
        } catch (IOException e) {
            return USUAL; // no stty here
        }
        return USUAL;
    }
}
