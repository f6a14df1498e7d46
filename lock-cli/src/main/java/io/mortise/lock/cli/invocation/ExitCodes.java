// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;

/** The exit codes of lockctl. Codes of {@code sysexits.h} are used where they fit, so that scripts can tell failures apart. */
public final class ExitCodes {
    public static final int OK = 0;
    /** The command ran, and its result is negative. */
    public static final int FAILED = 1;
    /** The command line or the URL is invalid. */
    public static final int USAGE = 64;
    /** The store cannot be reached. */
    public static final int UNAVAILABLE = 69;
    /** An internal error, worth a bug report. */
    public static final int SOFTWARE = 70;
    /** A file could not be read or written, or a process could not be started. */
    public static final int IO = 74;
    /** The lock was lost, or was about to be lost. */
    public static final int LOST = 75;
    /** The server refused the request: authentication or permissions. */
    public static final int REFUSED = 77;

    /** The command to run exists but cannot be executed; the same code as in shells. */
    public static final int NOT_EXECUTABLE = 126;
    /** The command to run was not found; the same code as in shells. */
    public static final int NOT_FOUND = 127;

    private static final int SIGNALLED = 128;

    private ExitCodes() {}

    /** Returns the exit code of a process that a signal ended, the same code as in shells. */
    public static int ofSignal(int number) {
        return SIGNALLED + number;
    }

    /** Returns the exit code for the exception that a command failed with. */
    public static int of(Throwable failure) {
        if (failure instanceof CommandFailedException failed) {
            return failed.exitCode();
        }
        if (failure instanceof LockConfigurationException) {
            return USAGE;
        }
        if (failure instanceof BackendUnavailableException) {
            return UNAVAILABLE;
        }
        if (failure instanceof BackendRefusedException) {
            return REFUSED;
        }
        if (failure instanceof java.io.IOException || failure instanceof java.io.UncheckedIOException) {
            return IO;
        }
        return SOFTWARE;
    }
}
