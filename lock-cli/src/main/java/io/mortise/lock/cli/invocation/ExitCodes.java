// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;

/** Exit codes of lockctl; those of sysexits.h where they fit, so that scripts can tell them apart. */
public final class ExitCodes {
    public static final int OK = 0;
    /** The command ran, and the answer is no. */
    public static final int FAILED = 1;
    /** The command line or the URL is wrong. */
    public static final int USAGE = 64;
    /** The lock's server cannot be reached. */
    public static final int UNAVAILABLE = 69;
    /** Something that should not happen; worth a bug report. */
    public static final int SOFTWARE = 70;
    /** A file or a process could not be made or read. */
    public static final int IO = 74;
    /** The lock was lost, or about to be. */
    public static final int LOST = 75;
    /** The server answered and refused: password, permission. */
    public static final int REFUSED = 77;

    /** The command to run is there and cannot be executed; as shells say it. */
    public static final int NOT_EXECUTABLE = 126;
    /** There is no such command to run; as shells say it. */
    public static final int NOT_FOUND = 127;

    private static final int SIGNALLED = 128;

    private ExitCodes() {}

    /** For what a signal ended, as shells say it. */
    public static int ofSignal(int number) {
        return SIGNALLED + number;
    }

    /** The code for what a command failed with. */
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
