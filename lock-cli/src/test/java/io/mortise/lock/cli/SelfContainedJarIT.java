// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the self-contained jar after it was built, with real servers, on the JVM that runs the tests. */
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
class SelfContainedJarIT {
    private static final String JAR = System.getProperty("lockctl.jar", "");

    @TempDir
    Path dir = Path.of("");

    /** A Unix socket needs native code. Newer JVMs warn of native code, and of memory access through {@code Unsafe}. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void connectsToServersWithoutWarningsOfTheJvm() throws Exception {
        try (RedisTestServer redis =
                        RedisTestServer.start(RedisServerOptions.defaults().withUnixSocket());
                EtcdTestServer etcd = EtcdTestServer.start()) {
            for (String url : List.of("redis-socket://" + redis.unixSocket(), etcd.url())) {
                assertThat(output("run", "x", "--url", url, "--", "echo", "held"))
                        .as(url)
                        .containsExactly("held");
            }
        }
    }

    @Test
    void containsNoTestCode() throws IOException {
        try (JarFile jar = new JarFile(JAR)) {
            assertThat(jar.stream().map(JarEntry::getName).filter(name -> name.startsWith("io/mortise/lock/")))
                    .contains("io/mortise/lock/cli/LockCtl.class")
                    .noneMatch(name -> name.matches("io/mortise/lock/(testkit|servers|example)/.*"));
            assertThat(jar.stream().map(JarEntry::getName))
                    .noneMatch(name -> name.startsWith("org/junit/") || name.startsWith("org/assertj/"));
        }
    }

    /** Runs lockctl as the launcher does; returns the lines of both standard output and standard error. */
    private List<String> output(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dsun.misc.unsafe.memory.access=allow"));
        command.addAll(List.of("-jar", JAR));
        command.addAll(List.of(arguments));
        Path output = dir.resolve("output");
        new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start()
                .waitFor();
        return Files.readAllLines(output);
    }
}
