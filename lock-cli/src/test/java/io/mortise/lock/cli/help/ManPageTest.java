// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.mortise.lock.cli.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("once")
class ManPageTest {
    @TempDir
    Path dir = Path.of("");

    @Test
    void containsExitCodesEnvironmentFilesAndExamples() {
        List<String> page = CommandLineRun.of("man").lines();
        assertThat(page.get(0)).startsWith(".TH \"LOCKCTL\" \"1\" ");
        assertThat(page)
                .contains("\\fB69\\fR", "\\fB77\\fR", "\\fBMORTISE_URL\\fR", "\\fBMORTISE_CONFIG\\fR")
                .contains("\\fB\\(ti/.config/mortise/lockctl.properties\\fR")
                .containsSubsequence(".SH \"EXIT STATUS\"", ".SH \"ENVIRONMENT\"", ".SH \"FILES\"", ".SH \"EXAMPLES\"");
    }

    @Test
    void textIsNeverTakenForMacros() {
        assertThat(new RoffWriter("x", "x 1", "x")
                        .paragraph(".who is 'a\\b'")
                        .item("'", List.of("", "-x"))
                        .toString()
                        .lines())
                .contains("\\&.who is \\(aqa\\(rsb\\(aq", "\\fB\\(aq\\fR", "\\&", "\\-x");
    }

    @Test
    void groffReportsNoWarnings() throws IOException, InterruptedException {
        assumeThat(Files.isExecutable(Path.of("/usr/bin/groff")))
                .as("groff is installed")
                .isTrue();
        Path page = Files.writeString(
                dir.resolve("lockctl.1"), CommandLineRun.of("man").out());
        Path warnings = dir.resolve("warnings");
        Path shown = dir.resolve("shown");
        Process groff = new ProcessBuilder("groff", "-man", "-Tutf8", "-ww", page.toString())
                .redirectError(warnings.toFile())
                .redirectOutput(shown.toFile())
                .start();
        assertThat(groff.waitFor()).isZero();
        assertThat(warnings).isEmptyFile();
        assertThat(shown).content().contains("lockctl who inventory/42");
    }
}
