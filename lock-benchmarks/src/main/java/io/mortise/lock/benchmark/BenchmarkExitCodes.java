// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.scenario.ExclusionViolationException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Exit codes of the {@code benchmark} command, with the same meanings as those of {@code lockctl}. */
final class BenchmarkExitCodes {
    static final int OK = 0;
    /** A competitor granted one lock to two clients at the same time. */
    static final int FAILED = 1;
    /** The command line is invalid. */
    static final int USAGE = 64;
    /** An internal error, which is worth a bug report. */
    static final int SOFTWARE = 70;
    /** A file could not be written. */
    static final int IO = 74;

    private BenchmarkExitCodes() {}

    static int of(Exception failure) {
        if (failure instanceof ExclusionViolationException) {
            return FAILED;
        }
        return failure instanceof IOException || failure instanceof UncheckedIOException ? IO : SOFTWARE;
    }
}
