// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/** Detects which of standard input and output are terminals. The launcher knows: Java cannot tell for one stream alone. */
public final class TerminalDetection {
    private TerminalDetection() {}

    /** Whether somebody can answer a question. */
    public static boolean asks() {
        return Boolean.getBoolean("lockctl.terminal.in") && Boolean.getBoolean("lockctl.terminal.err");
    }

    /** Whether standard output is one that can move its cursor. */
    public static boolean out() {
        return Boolean.getBoolean("lockctl.terminal.out");
    }
}
