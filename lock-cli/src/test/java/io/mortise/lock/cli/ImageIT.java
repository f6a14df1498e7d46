// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.process.PodmanEngine;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Builds the container image with Podman and runs it against a Redis server. The base image is empty, since a test must not need a
 * registry: programs and Java come from this machine, mounted read-only.
 */
@Tag("once")
@Tag("long")
@Timeout(180)
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
@EnabledOnOs(value = OS.LINUX, disabledReason = "Podman without a virtual machine")
class ImageIT {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private static Path dir;

    private static PodmanEngine podman;
    private static String image = "";
    private static RedisTestServer redis;

    /** Output and exit code of a finished command. */
    private record Finished(String output, int exitCode) {}

    @BeforeAll
    static void buildImage() throws Exception {
        Assumptions.assumeTrue(PodmanEngine.isUsable(), "needs Podman and runc, as root");
        podman = new PodmanEngine(dir);
        podman.importEmptyImage("localhost/base:1");
        String built = succeed(ROOT.resolve("packaging/image").toString(), "--no-build", "--base=localhost/base:1");
        image = built.substring(built.lastIndexOf('\n') + 1);
        redis = RedisTestServer.start();
    }

    @AfterAll
    static void stop() {
        if (podman != null) {
            podman.close();
        }
        if (redis != null) {
            redis.close();
        }
    }

    /** Without a capability, and without a file system to write to. */
    @Test
    void runEndsWithTheExitCodeOfItsCommandAndRunsAsNobody() throws Exception {
        Finished run = inContainer(
                List.of("--rm", "--read-only", "--cap-drop=all"),
                "run",
                "--url",
                redis.url(),
                "job",
                "--",
                "sh",
                "-c",
                "id -u; exit 7");
        assertThat(run.output).contains("65532");
        assertThat(run.exitCode).isEqualTo(7);
    }

    @Test
    void stoppingTheContainerReleasesTheLock() throws Exception {
        Finished started = inContainer(
                List.of("--detach", "--name=holder"), "run", "--url", redis.url(), "job2", "--", "sleep", "600");
        assertThat(started.exitCode).as(started.output).isZero();
        try (RawRedis raw = redis.connect()) {
            Await.until("the container holds the lock", SOON, () -> raw.call("GET", "lock:job2") != null);
            podman.run("stop", "--time=60", "holder");
            assertThat(raw.call("GET", "lock:job2")).isNull();
        }
    }

    private static Finished inContainer(List<String> options, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(podman.command());
        command.addAll(List.of("run", "--network=host", "--env=JAVA_HOME=" + System.getProperty("java.home")));
        Path javaHome = Path.of(System.getProperty("java.home")).toRealPath();
        Stream.of(
                        "/usr/bin",
                        "/usr/lib",
                        "/usr/lib64",
                        "/etc/alternatives",
                        "/etc/java-17-openjdk",
                        javaHome.toString())
                .filter(path -> Files.isDirectory(Path.of(path)))
                .distinct()
                .forEach(path -> command.add("--volume=" + path + ":" + path + ":ro"));
        command.addAll(options);
        command.add(image);
        command.addAll(List.of(arguments));
        return finish(command);
    }

    private static String succeed(String... command) throws Exception {
        Finished finished = finish(List.of(command));
        assertThat(finished.exitCode)
                .as("%s: %s", List.of(command), finished.output)
                .isZero();
        return finished.output;
    }

    private static Finished finish(List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(dir, "output", "");
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("ENGINE", String.join(" ", podman.command()));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        int code = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start()
                .waitFor();
        return new Finished(Files.readString(output).strip(), code);
    }
}
