// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/** Ends a command with one line for the user and an exit code. */
public final class CommandFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public CommandFailedException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** One of {@link ExitCodes}. */
    public int exitCode() {
        return exitCode;
    }
}
