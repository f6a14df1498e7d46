// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The number of rows and columns of the terminal, as {@code stty} reports them. */
record TerminalSize(int rows, int columns) {
    /** The size to assume if the terminal's size is unknown. */
    static final TerminalSize DEFAULT = new TerminalSize(24, 80);

    private static final Pattern SIZE = Pattern.compile("(\\d{1,5}) (\\d{1,5})\\s*");

    /** Returns the current size; empty if it is unknown, or a signal ended {@code stty}. */
    static Optional<TerminalSize> now() {
        try {
            Process stty = new ProcessBuilder("sh", "-c", "stty size </dev/tty")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            Matcher size = SIZE.matcher(new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
            if (size.matches() && !size.group(1).equals("0") && !size.group(2).equals("0")) {
                return Optional.of(new TerminalSize(Integer.parseInt(size.group(1)), Integer.parseInt(size.group(2))));
            }
        } catch (IOException e) {
            return Optional.empty(); // there is no stty
        }
        return Optional.empty();
    }
}
