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

/** Tests the class archive that an installed lockctl writes and starts from, on the JVM that runs the tests. See ADR 0041. */
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
@Tag("long")
class ClassArchiveIT {
    private static final Path JAR = Path.of(System.getProperty("lockctl.jar", ""));
    private static final boolean RECORDS = Runtime.version().feature() >= 25;
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
    void laterStartsLoadTheirClassesFromTheArchiveOfTheFirst() throws Exception {
        try (RedisTestServer redis = RedisTestServer.start()) {
            String[] who = {"who", "x", "--url", redis.url()};
            prepare(who);
            assertThat(archives()).singleElement().asString().endsWith(RECORDS ? "-redis.aot" : "-redis.jsa");

            List<String> loaded = loadedBy(who);

            assertThat(loaded)
                    .filteredOn(line -> line.contains("lockctl.jar"))
                    .as("of %s classes those not from the archive", loaded.size())
                    .hasSizeLessThan(50);
            assertThat(loaded).anyMatch(ClassArchiveIT::isFromArchive);
        }
    }

    @Test
    @Timeout(120)
    void aFailedCommandWritesNoArchive() throws Exception {
        assertThat(output(lockctl("who", "x", "--url", "redis://127.0.0.1:x"))).isNotEmpty();

        assertThat(archives()).isEmpty();
    }

    @Test
    @Timeout(120)
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs setpriv")
    void startsWithoutAWritableFolder() throws Exception {
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createDirectories(cache.resolve("lockctl"));
        ProcessBuilder who = lockctl("who", "x", "--url=memory:x");
        if ("root".equals(System.getProperty("user.name"))) { // root may write anywhere
            who.command().addAll(0, List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        } else {
            Files.setPosixFilePermissions(cache.resolve("lockctl"), PosixFilePermissions.fromString("r-xr-xr-x"));
        }

        assertThat(output(who)).containsExactly("x is free");
        assertThat(archives()).isEmpty();
    }

    @Test
    @Timeout(120)
    void anInvalidArchiveIsIgnored_andAnUnfinishedOneIsRewritten() throws Exception {
        String[] who = {"who", "x", "--url=memory:x"};
        prepare(who);
        Path archive = archives().get(0);
        byte[] whole = Files.readAllBytes(archive);
        whole[0] ^= 1;
        replace(archive, whole);
        assertThat(output(lockctl(who))).containsExactly("x is free");

        replace(archive, new byte[whole.length]);
        Files.delete(Path.of(archive.toString()
                .replaceFirst("\\.[a-z]+$", ".begun"))); // otherwise no archive is written for a minute
        prepare(who);
        assertThat(loadedBy(who)).anyMatch(ClassArchiveIT::isFromArchive);
    }

    /** Runs the command twice: Java 25 and newer record during the first run, and create the archive before the second. */
    private void prepare(String... who) throws Exception {
        for (int i = 0; i < 2; i++) {
            assertThat(output(lockctl(who))).containsExactly("x is free");
        }
    }

    private static boolean isFromArchive(String line) {
        return line.contains("io.mortise.lock.cli.LockCtl source: shared objects file");
    }

    private static void replace(Path file, byte[] content) throws IOException {
        Files.delete(file); // not overwritten, as it may be mapped
        Files.write(file, content);
    }

    /** Returns a line for each class that a command has loaded, with its source. */
    private List<String> loadedBy(String... arguments) throws IOException, InterruptedException {
        Path loaded = dir.resolve("loaded");
        ProcessBuilder command = lockctl(arguments);
        // The JVM reads this variable after the launcher's options, which disable the log.
        command.environment().put("_JAVA_OPTIONS", "-Xlog:class+load:file=" + loaded);
        output(command);
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

    /** Runs a command; returns the lines of both standard output and standard error. */
    private List<String> output(ProcessBuilder command) throws IOException, InterruptedException {
        Path output = dir.resolve("output");
        command.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start()
                .waitFor();
        return Files.readAllLines(output);
    }

    private List<Path> archives() throws IOException {
        try (Stream<Path> files = Files.walk(dir)) {
            return files.filter(file -> file.toString().matches(".*\\.(jsa|aot)"))
                    .toList();
        }
    }
}
