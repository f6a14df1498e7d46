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

/** The self-contained jar, once it is built, with real servers and on the Java that tests run on. */
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
class SelfContainedJarIT {
    private static final String JAR = System.getProperty("lockctl.jar", "");

    @TempDir
    Path dir = Path.of("");

    /** Over a Unix socket it needs native code. Newer Java warns of that, and of memory that libraries reach past it. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void speaksToServersAndJavaDoesNotWarnOfTheLibraries() throws Exception {
        try (RedisTestServer redis =
                        RedisTestServer.start(RedisServerOptions.defaults().withUnixSocket());
                EtcdTestServer etcd = EtcdTestServer.start()) {
            for (String url : List.of("redis-socket://" + redis.unixSocket(), etcd.url())) {
                assertThat(said("run", "x", "--url", url, "--", "echo", "held"))
                        .as(url)
                        .containsExactly("held");
            }
        }
    }

    @Test
    void holdsNoTestCode() throws IOException {
        try (JarFile jar = new JarFile(JAR)) {
            assertThat(jar.stream().map(JarEntry::getName).filter(name -> name.startsWith("io/mortise/lock/")))
                    .contains("io/mortise/lock/cli/LockCtl.class")
                    .noneMatch(name -> name.matches("io/mortise/lock/(testkit|servers|example)/.*"));
            assertThat(jar.stream().map(JarEntry::getName))
                    .noneMatch(name -> name.startsWith("org/junit/") || name.startsWith("org/assertj/"));
        }
    }

    /** On either output, started as by the launcher. */
    private List<String> said(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dsun.misc.unsafe.memory.access=allow"));
        command.addAll(List.of("-jar", JAR));
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
