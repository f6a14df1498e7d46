// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.io.PrintWriter;
import java.time.Duration;

/**
 * Prints the demo's progress: lines that stay, and one that counts. On a terminal that one is rewritten in place; in
 * a pipe or a file it is a plain line now and then.
 */
final class ProgressPrinter {
    private static final Duration ON_TERMINAL = Duration.ofMillis(100);
    private static final Duration IN_PIPE = Duration.ofSeconds(5);

    private final PrintWriter out;
    private final boolean terminal;
    private long lastTick = System.nanoTime();
    private int width;

    ProgressPrinter(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** A line that stays. */
    void line(String text) {
        wipe();
        out.println(text);
        out.flush();
        lastTick = System.nanoTime();
    }

    /** The state of what is going on; shown only now and then. */
    void tick(String text) {
        if (System.nanoTime() - lastTick < (terminal ? ON_TERMINAL : IN_PIPE).toNanos()) {
            return;
        }
        lastTick = System.nanoTime();
        if (terminal) {
            out.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
            width = text.length();
        } else {
            out.println(text);
        }
        out.flush();
    }

    private void wipe() {
        if (width > 0) {
            out.print("\r" + " ".repeat(width) + "\r");
            width = 0;
        }
    }

    static String seconds(Duration duration) {
        long tenths = Math.round(duration.toNanos() / 1e8);
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
