// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.redis.RedisTestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The class archive that an installed lockctl writes and starts from (ADR 0041), on the Java that tests run on. */
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
@Tag("long")
class ClassArchiveIT {
    private static final Path JAR = Path.of(System.getProperty("lockctl.jar", ""));
    private static final Path PACKAGING = Path.of("../packaging");

    @TempDir
    Path dir = Path.of("");

    private Path launcher = Path.of("");
    private Path cache = Path.of("");

    @BeforeEach
    void install() throws IOException {
        launcher = Files.createDirectory(dir.resolve("bin")).resolve("lockctl");
        Files.copy(PACKAGING.resolve("lockctl"), launcher);
        Path lib = Files.createDirectories(dir.resolve("lib/lockctl"));
        Files.copy(PACKAGING.resolve("launch.sh"), lib.resolve("launch.sh"));
        Files.copy(JAR, lib.resolve("lockctl.jar"));
        cache = dir.resolve("cache");
    }

    @Test
    @Timeout(120)
    void theSecondStartTakesItsClassesFromTheArchiveOfTheFirst() throws Exception {
        try (RedisTestServer redis = RedisTestServer.start()) {
            String url = redis.url();
            assertThat(said(lockctl("who", "x", "--url", url))).containsExactly("x is free");
            assertThat(archives()).singleElement().asString().endsWith("-redis.jsa");

            List<String> loaded = loadedBy("who", "x", "--url", url);

            // picocli's classes are of Java 5, which Java puts into no such archive.
            assertThat(loaded)
                    .filteredOn(line -> line.contains("source: jar:") || line.contains("lockctl.jar"))
                    .filteredOn(line -> !line.contains(" picocli."))
                    .hasSizeLessThan(100);
            assertThat(loaded)
                    .anyMatch(line -> line.contains("io.mortise.lock.cli.LockCtl source: shared objects file (top)"));
        }
    }

    @Test
    @Timeout(120)
    void aCommandThatFailedLeavesNoArchive() throws Exception {
        assertThat(said(lockctl("who", "x", "--url", "redis://127.0.0.1:x"))).isNotEmpty();

        assertThat(archives()).isEmpty();
    }

    @Test
    @Timeout(120)
    @EnabledOnOs(value = OS.LINUX, disabledReason = "setpriv")
    void withoutAFolderThatItMayWriteToItStartsAllTheSame() throws Exception {
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createDirectories(cache.resolve("lockctl"));
        ProcessBuilder who = lockctl("who", "x", "--url=memory:x");
        if ("root".equals(System.getProperty("user.name"))) { // who may write anywhere
            who.command().addAll(0, List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        } else {
            Files.setPosixFilePermissions(cache.resolve("lockctl"), PosixFilePermissions.fromString("r-xr-xr-x"));
        }

        assertThat(said(who)).containsExactly("x is free");
        assertThat(archives()).isEmpty();
    }

    @Test
    @Timeout(120)
    void anArchiveThatDoesNotFitIsLeftAlone_andOneThatIsNotFinishedIsWrittenAnew() throws Exception {
        String[] who = {"who", "x", "--url=memory:x"};
        said(lockctl(who));
        Path archive = archives().get(0);
        byte[] whole = Files.readAllBytes(archive);
        whole[0] ^= 1;
        replace(archive, whole);
        assertThat(said(lockctl(who))).containsExactly("x is free");

        replace(archive, new byte[whole.length]);
        Files.delete(Path.of(archive + ".begun")); // else not within a minute
        assertThat(said(lockctl(who))).containsExactly("x is free");
        assertThat(loadedBy(who))
                .anyMatch(line -> line.contains("io.mortise.lock.cli.LockCtl source: shared objects file (top)"));
    }

    private static void replace(Path file, byte[] content) throws IOException {
        Files.delete(file); // it may be mapped
        Files.write(file, content);
    }

    /** Where the classes came from, a line each. */
    private List<String> loadedBy(String... arguments) throws IOException, InterruptedException {
        Path loaded = dir.resolve("loaded");
        ProcessBuilder command = lockctl(arguments);
        // Read after the launcher's options, which disable the log.
        command.environment().put("_JAVA_OPTIONS", "-Xlog:class+load:file=" + loaded);
        said(command);
        return Files.readAllLines(loaded);
    }

    private ProcessBuilder lockctl(String... arguments) {
        List<String> command = new ArrayList<>(List.of("sh", launcher.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("XDG_CACHE_HOME", cache.toString());
        return builder;
    }

    /** What it wrote, on either output. */
    private List<String> said(ProcessBuilder command) throws IOException, InterruptedException {
        Path said = dir.resolve("said");
        command.redirectErrorStream(true).redirectOutput(said.toFile()).start().waitFor();
        return Files.readAllLines(said);
    }

    private List<Path> archives() throws IOException {
        try (Stream<Path> files = Files.walk(dir)) {
            return files.filter(file -> file.toString().endsWith(".jsa")).toList();
        }
    }
}
