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

/** Standard output that remembers a failed write, for the exit code; a plain {@code PrintStream} swallows it. */
final class CheckedStandardOutput extends OutputStream {
    private static final String NOBODY_READS = "Broken pipe";
    private static final int PIPE = 13;

    private final PrintStream before;
    private final OutputStream file;
    private volatile @Nullable IOException failure;

    /** @param before has what others print; it is written first */
    CheckedStandardOutput(PrintStream before) {
        this(before, new FileOutputStream(FileDescriptor.out));
    }

    CheckedStandardOutput(PrintStream before, OutputStream file) {
        this.before = before;
        this.file = file;
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int begin, int count) throws IOException {
        before.flush();
        try {
            file.write(bytes, begin, count);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /** What to tell of it; empty if all went well, or whoever read has had enough, as in {@code lockctl list | head -1}. */
    Optional<String> complaint() {
        IOException problem = failure;
        return problem == null || nobodyReads(problem) ? Optional.empty() : Optional.of(text(problem));
    }

    /** That of a command that did well otherwise. */
    int exitCode() {
        IOException problem = failure;
        if (problem == null) {
            return ExitCodes.OK;
        }
        return nobodyReads(problem) ? ExitCodes.ofSignal(PIPE) : ExitCodes.IO;
    }

    private static boolean nobodyReads(IOException problem) {
        return text(problem).contains(NOBODY_READS);
    }

    private static String text(IOException problem) {
        return String.valueOf(problem.getMessage());
    }
}
