// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

/** Thrown when a command fails, with a one-line message for the user and an exit code. */
public final class CommandFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public CommandFailedException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** Returns the exit code, one of {@link ExitCodes}. */
    public int exitCode() {
        return exitCode;
    }
}
