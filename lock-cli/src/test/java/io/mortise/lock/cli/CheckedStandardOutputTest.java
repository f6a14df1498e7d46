// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class CheckedStandardOutputTest {
    private static CheckedStandardOutput written(OutputStream file) {
        CheckedStandardOutput output =
                new CheckedStandardOutput(new PrintStream(OutputStream.nullOutputStream()), file);
        new PrintWriter(output, true, StandardCharsets.UTF_8).println("{}");
        return output;
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "/dev/full exists on Linux only")
    void aFullDiskIsReportedWithExitCode74() throws IOException {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            CheckedStandardOutput output = written(full);
            assertThat(output.exitCode()).isEqualTo(74);
            assertThat(output.errorMessage()).contains("No space left on device");
        }
    }

    @Test
    void aClosedPipeIsSilentWithExitCode141() {
        CheckedStandardOutput output = written(new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw new IOException("Broken pipe");
            }
        });
        assertThat(output.exitCode()).isEqualTo(141);
        assertThat(output.errorMessage()).isEmpty();
    }

    @Test
    void aSuccessfulWriteReportsNoError() {
        CheckedStandardOutput output = written(OutputStream.nullOutputStream());
        assertThat(output.exitCode()).isZero();
        assertThat(output.errorMessage()).isEmpty();
    }
}
