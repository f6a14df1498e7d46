// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/** What of standard input and output is a terminal. The launcher knows: Java cannot tell for one stream alone. */
public final class Terminal {
    private Terminal() {}

    /** Whether somebody can answer a question. */
    public static boolean asks() {
        return Boolean.getBoolean("lockctl.terminal.in") && Boolean.getBoolean("lockctl.terminal.err");
    }

    /** Whether standard output is one that can move its cursor. */
    public static boolean out() {
        return Boolean.getBoolean("lockctl.terminal.out");
    }
}
