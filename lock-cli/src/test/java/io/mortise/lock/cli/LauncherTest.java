// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the launcher scripts, with a fake Java and a fake Maven that only print or record their arguments. */
class LauncherTest {
    /** The scripts at the root of the project. */
    enum Launcher {
        LOCKCTL("lockctl", "lock-cli", "lockctl.jar", "lockctl"),
        BENCHMARK("benchmark", "lock-benchmarks", "benchmark.jar", "the benchmarks"),
        EXAMPLE("example", "lock-examples", "example.jar", "the examples"),
        CONFORMANCE("conformance", "lock-testkit", "conformance.jar", "the conformance matrix"),
        PEERS("peers", "lock-peers", "peers.jar", "the comparison with other libraries");

        private final String script;
        private final String module;
        private final String jar;
        private final String what;

        Launcher(String script, String module, String jarName, String what) {
            this.script = script;
            this.module = module;
            this.jar = module + "/target/" + jarName;
            this.what = what;
        }
    }

    private static final Path SOURCE = Path.of("..");
    private static final List<Path> SHARED = List.of(Path.of(".mvn/launch.sh"), Path.of("packaging/launch.sh"));

    /** Waits until the file {@code go} exists, for at most a minute, so that no process outlives a failed test. */
    private static final String AWAIT_GO =
            "n=0; until [ -e go ] || [ $n -gt 1200 ]; do n=$((n + 1)); sleep 0.05; done; ";

    @TempDir
    Path dir = Path.of("");

    private Path root = Path.of("");
    private Path bin = Path.of("");
    private String path = "";

    @BeforeEach
    void createProject() throws IOException {
        root = Files.createDirectory(dir.resolve("a project")).toRealPath();
        bin = Files.createDirectory(dir.resolve("bin"));
        path = bin + ":/usr/bin:/bin";
        Files.writeString(root.resolve("pom.xml"), "");
        for (Path shared : SHARED) {
            Files.createDirectories(root.resolve(shared).getParent());
            Files.copy(SOURCE.resolve(shared), root.resolve(shared));
        }
        for (Launcher launcher : Launcher.values()) {
            Files.createDirectories(root.resolve(launcher.module + "/target"));
            Files.createDirectories(root.resolve(launcher.module + "/src/main"));
            Files.copy(SOURCE.resolve(launcher.script), root.resolve(launcher.script));
        }
        fakeJava("17.0.1");
        tool(
                "mvn",
                "echo \"$*\" > called; case $* in *lock-cli*) touch lock-cli/target/lockctl.jar;; "
                        + "*lock-examples*) touch lock-examples/target/example.jar;; "
                        + "*lock-testkit*) touch lock-testkit/target/conformance.jar;; "
                        + "*lock-peers*) touch lock-peers/target/peers.jar;; "
                        + "*) touch lock-benchmarks/target/benchmark.jar;; esac");
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

    private Ended run(Launcher launcher, String... args) throws IOException, InterruptedException {
        return run(root.resolve(launcher.script), args);
    }

    private Ended run(Path launcher, String... args) throws IOException, InterruptedException {
        return start(launcher, args).ended();
    }

    private record Started(Process process, Path out, Path err) {
        boolean printedError(String text) {
            try {
                return Files.readString(err).contains(text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        Ended ended() throws IOException, InterruptedException {
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
        }
    }

    private Started start(Path launcher, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", launcher.toString()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).directory(dir.toFile());
        builder.environment().put("PATH", path);
        builder.environment().remove("JAVA_HOME");
        Path out = Files.createTempFile(dir, "out", "");
        Path err = Files.createTempFile(dir, "err", "");
        return new Started(
                builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start(), out, err);
    }

    private void write(String path, Instant modified) throws IOException {
        Path file = Files.writeString(root.resolve(path), "");
        Files.setLastModifiedTime(file, FileTime.from(modified));
    }

    @ParameterizedTest
    @EnumSource
    void isAValidScript(Launcher launcher) throws Exception {
        for (Path script :
                List.of(Path.of(launcher.script), SHARED.get(0), SHARED.get(1), Path.of("packaging/lockctl"))) {
            Process check = new ProcessBuilder(
                            "sh", "-n", SOURCE.resolve(script).toString())
                    .inheritIO()
                    .start();
            assertThat(check.waitFor()).isZero();
        }
        assertThat(Files.isExecutable(SOURCE.resolve(launcher.script))).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void buildsOnFirstUseAndPassesArgumentsAndExitCode(Launcher launcher) throws Exception {
        Ended first = run(launcher, "demo", "two words", "");

        assertThat(first.err()).isEqualTo("building " + launcher.what + " (first use)...\n");
        assertThat(Files.readString(root.resolve("called"))).contains("-pl " + launcher.module + " -am package");
        assertThat(first.out())
                .contains("<-jar><" + root + "/" + launcher.jar + ">")
                .endsWith("<demo><two words><>");
        assertThat(first.code()).isEqualTo(42);

        assertThat(run(launcher, "demo").err()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @EnabledOnOs(value = OS.LINUX, disabledReason = "reads /proc")
    void closedStandardStreamsAreOpenedBeforeJavaStarts(Launcher launcher) throws Exception {
        tool(
                "java",
                "if [ \"$1\" = -version ]; then echo 'openjdk version \"17\"' >&2; exit; fi\n"
                        + "all=$(for fd in 0 1 2; do readlink /proc/$$/fd/$fd; done); echo \"$all\" >given; exit 42");
        for (String closed : List.of("<&-", ">&-", "2>&-", "<&- >&- 2>&-")) {
            Path script = Files.writeString(
                    dir.resolve("closed"), "exec sh \"" + root.resolve(launcher.script) + "\" " + closed);
            assertThat(run(script).code()).as(closed).isEqualTo(42);
            List<String> given = Files.readAllLines(dir.resolve("given"));
            assertThat(given).as(closed).hasSize(3);
            assertThat(given)
                    .filteredOn("/dev/null"::equals)
                    .as(closed)
                    .hasSizeGreaterThanOrEqualTo(closed.split(" ", -1).length);
        }
    }

    @Test
    void theLauncherTellsLockctlWhetherOutputIsATerminal() throws Exception {
        assertThat(run(Launcher.LOCKCTL).out()).contains("<-Dlockctl.terminal.out=false>");
    }

    /** Newer JVMs warn of what etcd's libraries do; the setting is a system property, which older JVMs ignore. */
    @Test
    void javaDoesNotWarnOfWhatLibrariesDo() throws Exception {
        assertThat(run(Launcher.LOCKCTL).out()).contains("<-Dsun.misc.unsafe.memory.access=allow>");
    }

    @Test
    void anArchiveIsWrittenOncePerJavaAndStoreAndUsedByLaterStarts() throws Exception {
        fakeArchivingJava("17.0.1");
        Ended first = run(Launcher.LOCKCTL, "who", "--url", "redis-socket:///x");
        assertThat(first.out())
                .contains("<-XX:ArchiveClassesAtExit=" + root + "/lock-cli/target/lockctl-", "-redis-socket.jsa>");
        Ended second = run(Launcher.LOCKCTL, "who", "--url", "redis-socket:///x");
        assertThat(second.err()).isEmpty();
        assertThat(second.out())
                .contains(
                        "<-XX:SharedArchiveFile=" + root + "/lock-cli/target/lockctl-",
                        "-redis-socket.jsa><-Xlog:disable>")
                .doesNotContain("ArchiveClassesAtExit");
        assertThat(run(Launcher.LOCKCTL, "run", "x").out()).contains("ArchiveClassesAtExit", "-default.jsa>");

        fakeArchivingJava("21");
        assertThat(run(Launcher.LOCKCTL, "who", "--url", "redis-socket:///x").out())
                .as("another Java")
                .contains("ArchiveClassesAtExit");
        Files.writeString(root.resolve("lock-cli/target/lockctl.jar"), "another jar");
        assertThat(run(Launcher.LOCKCTL, "who", "--url", "redis-socket:///x").out())
                .contains("ArchiveClassesAtExit");
    }

    @Test
    void onlyTheFirstOfConcurrentShortCommandsWritesAnArchive() throws Exception {
        assertThat(run(Launcher.LOCKCTL, "hold", "x").out()).doesNotContain("ArchiveClassesAtExit");
        assertThat(run(Launcher.LOCKCTL, "who", "x").out()).contains("ArchiveClassesAtExit");
        assertThat(run(Launcher.LOCKCTL, "who", "x").out()).doesNotContain("Archive");
    }

    @Test
    void anUnfinishedArchiveIsNotUsedAndIsRewrittenAMinuteLater() throws Exception {
        fakeArchivingJava("17.0.1");
        run(Launcher.LOCKCTL, "who", "x");
        Path target = root.resolve("lock-cli/target");
        try (Stream<Path> files = Files.list(target)) {
            for (Path file : files.filter(each -> each.toString().matches(".*\\.(jsa|begun)"))
                    .toList()) {
                Files.write(file, new byte[file.toString().endsWith(".jsa") ? 100 : 0]);
                Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(180)));
            }
        }

        assertThat(run(Launcher.LOCKCTL, "who", "x").out()).contains("ArchiveClassesAtExit");
        assertThat(run(Launcher.LOCKCTL, "who", "x").out()).contains("SharedArchiveFile");
    }

    @Test
    void java25RecordsFirstAndCreatesTheArchiveBeforeTheSecondCommand() throws Exception {
        fakeArchivingJava("25");
        assertThat(run(Launcher.LOCKCTL, "who", "x").out())
                .contains("<-XX:AOTMode=record><-XX:AOTConfiguration=" + root + "/lock-cli/target/lockctl-");

        Ended second = run(Launcher.LOCKCTL, "who", "x");
        assertThat(second.err()).isEmpty();
        assertThat(second.out())
                .contains("<-XX:AOTCache=" + root + "/lock-cli/target/lockctl-", "-default.aot><-Xlog:disable>")
                .doesNotContain("AOTMode");
        assertThat(run(Launcher.LOCKCTL, "who", "x")).isEqualTo(second);
        try (Stream<Path> files = Files.list(root.resolve("lock-cli/target"))) {
            assertThat(files.map(file -> file.toString().replaceFirst(".*\\.", "")))
                    .containsExactlyInAnyOrder("jar", "begun", "aot");
        }
    }

    /** Like {@link #fakeJava}, but also writes archives. The size of the script differs for each version. */
    private void fakeArchivingJava(String version) throws IOException {
        tool(
                "java",
                "if [ \"$1\" = -version ]; then echo 'openjdk version \"" + version + "\"' >&2; exit; fi\n"
                        + "for each; do case $each in -XX:ArchiveClassesAtExit=* | -XX:AOTConfiguration=* | -XX:AOTCache=*)"
                        + " echo archive >\"${each#*=}\";; esac; done\n"
                        + "case $1 in -XX:AOTMode=create) exit;; esac\n"
                        + "printf '<%s>' \"$@\"; exit 42");
    }

    @ParameterizedTest
    @EnumSource
    void usesAnExistingJarEvenIfSourcesAreNewer(Launcher launcher) throws Exception {
        run(launcher);
        Files.delete(root.resolve("called"));
        write(launcher.module + "/src/main/Own.java", Instant.now().plusSeconds(60));

        assertThat(run(launcher, "demo"))
                .isEqualTo(new Ended(42, run(launcher, "demo").out(), ""));
        assertThat(root.resolve("called")).doesNotExist();
    }

    @Test
    void oneOfSeveralConcurrentLaunchersBuildsAndTheOthersWait() throws Exception {
        tool("mvn", "echo built >> builds; " + AWAIT_GO + "touch lock-cli/target/lockctl.jar");
        List<Started> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(start(root.resolve(Launcher.LOCKCTL.script), "n" + i));
        }
        Await.until(
                "one builds, three wait for it",
                Duration.ofSeconds(30),
                () -> all.stream()
                                        .filter(each -> each.printedError("building lockctl"))
                                        .count()
                                == 1
                        && all.stream()
                                        .filter(each -> each.printedError("waiting for another launcher"))
                                        .count()
                                == 3);
        Files.createFile(root.resolve("go"));

        for (Started each : all) {
            assertThat(each.ended().code()).isEqualTo(42);
        }
        assertThat(Files.readAllLines(root.resolve("builds"))).containsExactly("built");
    }

    /** Several concurrent launchers find a partial jar of a killed launcher, whose Maven is still running. */
    @Test
    void launchersWaitForTheMavenOfAKilledLauncher_andOneOfThemRebuildsTheJar() throws Exception {
        tool(
                "mvn",
                "echo begun >> builds; echo half > lock-cli/target/lockctl.jar; "
                        + AWAIT_GO
                        + "echo whole > lock-cli/target/lockctl.jar; echo ended >> builds");
        Started killed = start(root.resolve(Launcher.LOCKCTL.script));
        Path jar = root.resolve("lock-cli/target/lockctl.jar");
        Await.until("half of a jar", Duration.ofSeconds(30), () -> Files.exists(jar));
        killed.process().destroyForcibly().waitFor();
        List<Started> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(start(root.resolve(Launcher.LOCKCTL.script)));
        }
        Await.until(
                "all wait",
                Duration.ofSeconds(30),
                () -> all.stream().allMatch(each -> each.printedError("waiting for another launcher")));
        Files.createFile(root.resolve("go"));

        for (Started each : all) {
            assertThat(each.ended().code()).isEqualTo(42);
        }
        assertThat(Files.readAllLines(root.resolve("builds"))).containsExactly("begun", "ended", "begun", "ended");
        assertThat(Files.readString(jar)).isEqualTo("whole\n");
    }

    @Test
    void aPartialJarOfAFailedBuildIsNotUsed() throws Exception {
        tool("mvn", "echo half > lock-cli/target/lockctl.jar; exit 1");
        assertThat(run(Launcher.LOCKCTL).code()).isEqualTo(70);
        tool("mvn", "echo whole > lock-cli/target/lockctl.jar");

        assertThat(run(Launcher.LOCKCTL).code()).isEqualTo(42);
        assertThat(Files.readString(root.resolve("lock-cli/target/lockctl.jar")))
                .isEqualTo("whole\n");
    }

    @Test
    void withoutFlockAFolderIsUsedAsTheLock() throws Exception {
        for (String tool : List.of(
                "awk", "cat", "dirname", "find", "grep", "head", "ls", "mkdir", "mv", "rm", "rmdir", "sed", "sh",
                "sleep", "touch", "tr")) {
            Path where = Files.isExecutable(Path.of("/bin", tool)) ? Path.of("/bin", tool) : Path.of("/usr/bin", tool);
            Files.createSymbolicLink(bin.resolve(tool), where);
        }
        path = bin.toString();
        Path folder = Files.createDirectory(root.resolve(".mvn/building.lock.d"));
        Started waiting = start(root.resolve(Launcher.LOCKCTL.script));
        Await.until(
                "it names the folder",
                Duration.ofSeconds(30),
                () -> waiting.printedError("if there is none, remove " + folder));
        assertThat(root.resolve("called")).doesNotExist();
        Files.delete(folder);

        assertThat(waiting.ended().code()).isEqualTo(42);
        assertThat(folder).doesNotExist();
    }

    @Test
    void aUserWithoutAHomeDirectoryGetsARemedy() throws Exception {
        tool("mvn", "echo '[ERROR] Could not create local repository at /nonexistent/.m2/repository'; exit 1");
        assertThat(run(Launcher.LOCKCTL).err()).contains("Maven needs a writable home directory");
    }

    @ParameterizedTest
    @EnumSource
    void aFailedBuildIsShown(Launcher launcher) throws Exception {
        tool("mvn", "echo 'no compiler'; exit 1");

        Ended ended = run(launcher, "demo");

        assertThat(ended.err()).contains("no compiler", launcher.script + ": the build failed");
        assertThat(ended.out()).isEmpty();
        assertThat(ended.code()).isEqualTo(70);
    }

    @Test
    void runsThroughASymbolicLink() throws Exception {
        Files.createFile(root.resolve("lock-cli/target/lockctl.jar"));
        Path link = Files.createSymbolicLink(bin.resolve("lockctl"), Path.of("../a project/lockctl"));

        assertThat(run(link, "-V").out()).endsWith("<" + root + "/lock-cli/target/lockctl.jar><-V>");
    }

    @ParameterizedTest
    @EnumSource
    void refusesAnOldJava(Launcher launcher) throws Exception {
        fakeJava("11.0.2");
        assertThat(run(launcher).err()).contains("is Java 11: install version 17 or newer");
        fakeJava("1.8.0_402");
        assertThat(run(launcher).code()).isEqualTo(69);
    }
}
