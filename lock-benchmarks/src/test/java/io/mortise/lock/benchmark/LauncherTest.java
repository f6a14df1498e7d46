// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher script, with a Java and a Maven that only tell how they were called. */
class LauncherTest {
    private static final Path LAUNCHER = Path.of("../benchmark");

    @TempDir
    Path dir = Path.of("");

    private Path root = Path.of("");
    private Path bin = Path.of("");

    @BeforeEach
    void layOut() throws IOException {
        root = Files.createDirectory(dir.resolve("a project")).toRealPath();
        bin = Files.createDirectory(dir.resolve("bin"));
        Files.createDirectories(root.resolve("lock-benchmarks/target"));
        Files.createDirectories(root.resolve("lock-benchmarks/src/main"));
        Files.createDirectories(root.resolve("lock-cli/src/main"));
        Files.writeString(root.resolve("pom.xml"), "");
        Files.copy(LAUNCHER, root.resolve("benchmark"));
        tool(
                "java",
                "if [ \"$1\" = -version ]; then echo 'openjdk version \"17.0.1\"' >&2; exit; fi\n"
                        + "printf '<%s>' \"$@\"; exit 42");
        tool("mvn", "echo \"$*\" > called; touch lock-benchmarks/target/benchmark.jar");
    }

    private void tool(String name, String script) throws IOException {
        Path tool = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + script + "\n");
        assertThat(tool.toFile().setExecutable(true)).isTrue();
    }

    private record Ended(int code, String out, String err) {}

    private Ended run(String... args) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("sh", root.resolve("benchmark").toString()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).directory(dir.toFile());
        builder.environment().put("PATH", bin + ":/usr/bin:/bin");
        builder.environment().remove("JAVA_HOME");
        Path out = dir.resolve("out");
        Path err = dir.resolve("err");
        Process process =
                builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    private void newer(String path) throws IOException {
        Path file = Files.writeString(root.resolve(path), "");
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(60)));
    }

    @Test
    void isAValidScript() throws Exception {
        Process check =
                new ProcessBuilder("sh", "-n", LAUNCHER.toString()).inheritIO().start();
        assertThat(check.waitFor()).isZero();
        assertThat(Files.isExecutable(LAUNCHER)).isTrue();
    }

    @Test
    void buildsOnFirstUseAndPassesArgumentsAndExitCode() throws Exception {
        Ended first = run("--scenario", "two words", "");

        assertThat(first.err()).isEqualTo("building the benchmarks (first use)...\n");
        assertThat(Files.readString(root.resolve("called"))).contains("-pl lock-benchmarks -am package");
        assertThat(first.out())
                .endsWith("<-jar><" + root + "/lock-benchmarks/target/benchmark.jar><--scenario><two words><>");
        assertThat(first.code()).isEqualTo(42);
    }

    @Test
    void buildsAgainOnlyWhenWhatItIsMadeOfHasChanged() throws Exception {
        run();
        newer("lock-cli/src/main/Other.java");
        assertThat(run().err()).isEmpty();
        newer("lock-benchmarks/src/main/Own.java");
        assertThat(run().err()).isEqualTo("building the benchmarks (sources have changed)...\n");
    }

    @Test
    void aBuildThatLeavesTheJarAsItWasIsNotRepeated() throws Exception {
        run();
        Path jar = root.resolve("lock-benchmarks/target/benchmark.jar");
        Files.setLastModifiedTime(jar, FileTime.from(Instant.now().minusSeconds(60)));
        Files.writeString(root.resolve("lock-benchmarks/src/main/Own.java"), "");
        tool("mvn", "true");
        assertThat(run().err()).isEqualTo("building the benchmarks (sources have changed)...\n");
        assertThat(run().err()).isEmpty();
    }

    @Test
    void aFailedBuildIsShown() throws Exception {
        tool("mvn", "echo 'no compiler'; exit 1");

        Ended ended = run();

        assertThat(ended.err()).contains("no compiler", "benchmark: the build failed");
        assertThat(ended.out()).isEmpty();
        assertThat(ended.code()).isEqualTo(70);
    }
}
