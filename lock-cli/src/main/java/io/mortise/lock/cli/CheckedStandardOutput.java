// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.cli.invocation.ExitCodes;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Standard output that records a failed write, so that lockctl can report it and set its exit code. A plain {@code PrintStream}
 * would swallow the exception.
 */
final class CheckedStandardOutput extends OutputStream {
    private static final String BROKEN_PIPE = "Broken pipe";
    private static final int SIGPIPE = 13;

    private final PrintStream earlier;
    private final OutputStream file;
    private volatile @Nullable IOException failure;

    /** @param earlier a stream to the same descriptor, which is flushed before each write to keep the order of the output */
    CheckedStandardOutput(PrintStream earlier) {
        this(earlier, new FileOutputStream(FileDescriptor.out));
    }

    CheckedStandardOutput(PrintStream earlier, OutputStream file) {
        this.earlier = earlier;
        this.file = file;
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int begin, int count) throws IOException {
        earlier.flush();
        try {
            file.write(bytes, begin, count);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /** Returns the error to report; empty if there is none, or if the reader closed the pipe, as {@code head -1} does. */
    Optional<String> errorMessage() {
        IOException problem = failure;
        return problem == null || isBrokenPipe(problem) ? Optional.empty() : Optional.of(message(problem));
    }

    /** Returns the exit code of a command that succeeded otherwise. */
    int exitCode() {
        IOException problem = failure;
        if (problem == null) {
            return ExitCodes.OK;
        }
        return isBrokenPipe(problem) ? ExitCodes.ofSignal(SIGPIPE) : ExitCodes.IO;
    }

    private static boolean isBrokenPipe(IOException problem) {
        return message(problem).contains(BROKEN_PIPE);
    }

    private static String message(IOException problem) {
        return String.valueOf(problem.getMessage());
    }
}
