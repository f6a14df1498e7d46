// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The self-contained jar, once it is built, on the Java that tests run on. */
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
class ArchiveIT {
    private static final String JAR = System.getProperty("lockctl.jar", "");

    @TempDir
    Path dir = Path.of("");

    /** One test for all, since an archive takes seconds to write, and longer on a busy machine. */
    @Test
    @Timeout(240)
    void startsFromAnArchiveAndSilentlyWithoutOneThatDoesNotFit() throws Exception {
        Path archive = dir.resolve("lockctl.jsa");
        assertThat(java("-jar", JAR, "archive", archive.toString())).isEmpty();
        try (var left = Files.list(dir)) {
            assertThat(left.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("lockctl.jsa", "said");
        }

        List<String> loaded = java(archive, "-Xlog:class+load");
        assertThat(loaded)
                .anyMatch(line -> line.contains("io.mortise.lock.cli.LockCtl source: shared objects file"))
                .contains("x is free");
        if (Runtime.version().feature() == 17) { // newer ones leave classes of Java 5 out
            assertThat(loaded).anyMatch(line -> line.contains("picocli.CommandLine source: shared objects file"));
        }

        byte[] whole = Files.readAllBytes(archive);
        Path broken = dir.resolve("broken.jsa");
        whole[0] ^= 1;
        Files.write(broken, whole);
        assertThat(java(broken, "-Xlog:disable")).containsExactly("x is free");
        Files.writeString(broken, "");
        assertThat(java(broken, "-Xlog:disable")).containsExactly("x is free");
        Path copy = Files.copy(Path.of(JAR), dir.resolve("other.jar"));
        assertThat(java(
                        "-XX:SharedArchiveFile=" + archive,
                        "-Xlog:disable",
                        "-jar",
                        copy.toString(),
                        "who",
                        "x",
                        "--url=memory:x"))
                .as("of another jar")
                .containsExactly("x is free");
    }

    private List<String> java(Path archive, String log) throws IOException, InterruptedException {
        return java("-XX:SharedArchiveFile=" + archive, log, "-jar", JAR, "who", "x", "--url=memory:x");
    }

    /** What it said, on either output. */
    private List<String> java(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(arguments));
        Path said = dir.resolve("said");
        new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start()
                .waitFor();
        return Files.readAllLines(said);
    }
}
