// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.process.PodmanEngine;
import io.mortise.lock.servers.process.ServerBinary;
import io.mortise.lock.servers.process.ServerContainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the test with Testcontainers in {@code docs/testing.md} passes in a project of its own: by Podman with an image of
 * this machine's Redis, else by Docker.
 */
@Tag("once")
@Tag("long")
@Timeout(300)
class TestcontainersPageTest {
    private static final Path PAGE = Path.of(System.getProperty("mortise.root"), "docs/testing.md");
    private static final Pattern SECTION = Pattern.compile("## A real store in a container\n.*?\n## ", Pattern.DOTALL);

    /** The POM of a user, without the dependency that the page shows. */
    private static final String POM = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
              <modelVersion>4.0.0</modelVersion>
              <groupId>example</groupId>
              <artifactId>orders</artifactId>
              <version>1</version>
              <properties>
                <maven.compiler.release>17</maven.compiler.release>
                <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
              </properties>
              <dependencies>
                <dependency>
                  <groupId>io.mortise</groupId>
                  <artifactId>lock-redis</artifactId>
                  <version>%s</version>
                </dependency>
                <dependency>
                  <groupId>org.junit.jupiter</groupId>
                  <artifactId>junit-jupiter</artifactId>
                  <version>6.1.3</version>
                  <scope>test</scope>
                </dependency>
            %s
              </dependencies>
              <build>
                <plugins>
                  <plugin>
                    <artifactId>maven-compiler-plugin</artifactId>
                    <version>3.16.0</version>
                  </plugin>
                  <plugin>
                    <artifactId>maven-surefire-plugin</artifactId>
                    <version>3.6.1</version>
                  </plugin>
                </plugins>
              </build>
            </project>
            """;

    private static final String IMPORTS = """
            import static org.junit.jupiter.api.Assertions.*;
            import io.mortise.lock.*;
            import io.mortise.lock.connect.*;
            import org.junit.jupiter.api.*;
            import org.testcontainers.containers.*;
            import org.testcontainers.junit.jupiter.*;
            import org.testcontainers.junit.jupiter.Container;
            """;

    @TempDir
    private static Path directory;

    @Test
    void theTestOfThePagePasses() throws Exception {
        String section = find(SECTION, Files.readString(PAGE));
        String code = block("java", section);
        String testClass = find(Pattern.compile("(?<=class )\\w+"), code);
        ConsumerBuild build = ConsumerBuild.stage(directory);
        Path project = directory.resolve("orders");
        Path sources = Files.createDirectories(project.resolve("src/test/java"));
        Files.writeString(project.resolve("pom.xml"), POM.formatted(ConsumerBuild.VERSION, block("xml", section)));
        Files.writeString(sources.resolve(testClass + ".java"), IMPORTS + code);
        run(build, project, find(Pattern.compile("redis:[0-9.]+"), code));
        assertThat(ConsumerBuild.testsRun(project, testClass)).isEqualTo(1);
    }

    private static void run(ConsumerBuild build, Path project, String image) throws Exception {
        if (!PodmanEngine.isUsable()) {
            Assumptions.assumeTrue(
                    ServerContainer.problem().isEmpty(), "needs Podman and runc, as root, or Docker on this machine");
            build.runMaven(project, "test");
            return;
        }
        try (PodmanEngine podman = new PodmanEngine(Files.createDirectory(directory.resolve("podman")))) {
            // Testcontainers asks a shell in the container whether the port is open.
            List<Path> programs = List.of(ServerBinary.redis(), Path.of("/bin/sh"), Path.of("/bin/grep"));
            podman.importPrograms(
                    "docker.io/library/" + image, List.of("redis-server", "--protected-mode", "no"), programs);
            Map<String, String> environment = podman.startService();
            build.runMaven(project, environment, "test");
        }
    }

    private static String block(String language, String text) {
        Matcher block = Pattern.compile("```" + language + "\n(.*?)\n```", Pattern.DOTALL)
                .matcher(text);
        assertThat(block.find()).as("a block of %s in %s", language, text).isTrue();
        return block.group(1);
    }

    private static String find(Pattern pattern, String text) throws IOException {
        Matcher found = pattern.matcher(text);
        assertThat(found.find()).as("%s in %s", pattern, text).isTrue();
        return found.group();
    }
}
