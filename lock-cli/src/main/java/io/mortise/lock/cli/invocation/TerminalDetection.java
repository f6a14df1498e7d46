// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/**
 * Detects which of the standard streams are terminals. It reads system properties that the launcher sets, as Java cannot tell
 * for a single stream.
 */
public final class TerminalDetection {
    private TerminalDetection() {}

    /** Returns whether the user can be asked a question and answer it. */
    public static boolean canPrompt() {
        return Boolean.getBoolean("lockctl.terminal.in") && Boolean.getBoolean("lockctl.terminal.err");
    }

    /** Returns whether standard output is a terminal that can move its cursor. */
    public static boolean isOutputTerminal() {
        return Boolean.getBoolean("lockctl.terminal.out");
    }
}
