// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher script, with a Java and a Maven that only tell how they were called. */
class LauncherTest {
    private static final Path LAUNCHER = Path.of("../lockctl");

    @TempDir
    Path dir = Path.of("");

    private Path root = Path.of("");
    private Path bin = Path.of("");

    @BeforeEach
    void layOut() throws IOException {
        root = Files.createDirectory(dir.resolve("a project")).toRealPath();
        bin = Files.createDirectory(dir.resolve("bin"));
        Files.createDirectories(root.resolve("lock-cli/target"));
        Files.writeString(root.resolve("pom.xml"), "");
        Files.copy(LAUNCHER, root.resolve("lockctl"));
        fakeJava("17.0.1");
        tool("mvn", "echo \"$*\" > called; touch lock-cli/target/lockctl.jar");
    }

    private void fakeJava(String version) throws IOException {
        tool(
                "java",
                "if [ \"$1\" = -version ]; then echo 'openjdk version \"" + version + "\"' >&2; exit; fi\n"
                        + "printf '<%s>' \"$@\"; exit 42");
    }

    private void tool(String name, String script) throws IOException {
        Path tool = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + script + "\n");
        assertThat(tool.toFile().setExecutable(true)).isTrue();
    }

    private record Ended(int code, String out, String err) {}

    private Ended run(Path launcher, String... args) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", launcher.toString()));
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

    @Test
    void isAValidScript() throws Exception {
        Process check =
                new ProcessBuilder("sh", "-n", LAUNCHER.toString()).inheritIO().start();
        assertThat(check.waitFor()).isZero();
        assertThat(Files.isExecutable(LAUNCHER)).isTrue();
    }

    @Test
    void buildsOnFirstUseAndPassesArgumentsAndExitCode() throws Exception {
        Ended first = run(root.resolve("lockctl"), "demo", "two words", "");

        assertThat(first.err()).isEqualTo("building lockctl (first use)...\n");
        assertThat(Files.readString(root.resolve("called"))).contains("-pl lock-cli -am package");
        assertThat(first.out()).endsWith("<-jar><" + root + "/lock-cli/target/lockctl.jar><demo><two words><>");
        assertThat(first.out()).contains("<-Dlockctl.terminal.out=false>");
        assertThat(first.code()).isEqualTo(42);

        assertThat(run(root.resolve("lockctl"), "demo").err()).isEmpty();
    }

    @Test
    void aFailedBuildIsShown() throws Exception {
        tool("mvn", "echo 'no compiler'; exit 1");

        Ended ended = run(root.resolve("lockctl"), "demo");

        assertThat(ended.err()).contains("no compiler", "lockctl: the build failed");
        assertThat(ended.out()).isEmpty();
        assertThat(ended.code()).isEqualTo(70);
    }

    @Test
    void runsThroughASymbolicLink() throws Exception {
        Files.createFile(root.resolve("lock-cli/target/lockctl.jar"));
        Path link = Files.createSymbolicLink(bin.resolve("lockctl"), Path.of("../a project/lockctl"));

        assertThat(run(link, "-V").out()).endsWith("<" + root + "/lock-cli/target/lockctl.jar><-V>");
    }

    @Test
    void refusesAnOldJava() throws Exception {
        fakeJava("11.0.2");
        assertThat(run(root.resolve("lockctl")).err()).contains("is Java 11: install version 17 or newer");
        fakeJava("1.8.0_402");
        assertThat(run(root.resolve("lockctl")).code()).isEqualTo(69);
    }
}
