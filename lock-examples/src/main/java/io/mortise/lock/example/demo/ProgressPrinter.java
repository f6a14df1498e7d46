// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.io.PrintWriter;
import java.time.Duration;

/**
 * Prints the demo's progress as permanent lines and one status line. On a terminal the status line is updated in place; in a
 * pipe or a file it is a plain line from time to time.
 */
final class ProgressPrinter {
    private static final Duration ON_TERMINAL = Duration.ofMillis(100);
    private static final Duration IN_PIPE = Duration.ofSeconds(5);

    private final PrintWriter out;
    private final boolean terminal;
    private long lastPrinted = System.nanoTime();
    private int width;

    ProgressPrinter(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** Prints a permanent line. */
    void line(String text) {
        clearStatus();
        out.println(text);
        out.flush();
        lastPrinted = System.nanoTime();
    }

    /** Updates the status line, unless it was updated a moment ago. */
    void status(String text) {
        if (System.nanoTime() - lastPrinted < (terminal ? ON_TERMINAL : IN_PIPE).toNanos()) {
            return;
        }
        lastPrinted = System.nanoTime();
        if (terminal) {
            out.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
            width = text.length();
        } else {
            out.println(text);
        }
        out.flush();
    }

    private void clearStatus() {
        if (width > 0) {
            out.print("\r" + " ".repeat(width) + "\r");
            width = 0;
        }
    }

    /** Formats a duration in seconds with one decimal. */
    static String seconds(Duration duration) {
        long tenths = Math.round(duration.toNanos() / 1e8);
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
