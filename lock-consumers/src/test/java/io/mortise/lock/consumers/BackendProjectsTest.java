// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the backend projects for third parties, the archetype and the example, build as a user builds them and pass the
 * conformance kit: a part of it, or the whole kit with {@code -Dmortise.projects=whole}, which takes minutes.
 *
 * <p>See ADR 0047.
 */
@Tag("once")
@Tag("long")
@Timeout(540)
class BackendProjectsTest {
    private static final Path ROOT = Path.of(System.getProperty("mortise.root"));
    private static final String GENERATE = "org.apache.maven.plugins:maven-archetype-plugin:3.4.1:generate";

    private static final boolean WHOLE_KIT = "whole".equals(System.getProperty("mortise.projects"));

    @TempDir
    private static Path directory;

    private static ConsumerBuild build;

    @BeforeAll
    static void stage() throws IOException {
        build = ConsumerBuild.stage(directory);
    }

    @Test
    void aProjectOfTheArchetypePassesTheKit() throws Exception {
        Path parent = Files.createDirectories(directory.resolve("generated"));
        build.runMaven(
                parent,
                GENERATE,
                "-DarchetypeGroupId=io.mortise",
                "-DarchetypeArtifactId=lock-backend-archetype",
                "-DarchetypeVersion=" + ConsumerBuild.VERSION,
                "-DgroupId=com.example",
                "-DartifactId=my-lock",
                "-DinteractiveMode=false");
        Path project = parent.resolve("my-lock");
        assertThat(project.resolve("src/main/java/com/example/TableStore.java"))
                .content()
                .startsWith("package com.example;");
        runKit(project, "com.example.TableConformanceTest");
    }

    @Test
    void theExampleOnNatsPassesTheKit() throws Exception {
        Path project =
                ConsumerBuild.copy(ROOT.resolve("lock-examples/nats-backend"), directory.resolve("nats-backend"));
        assertThat(project.resolve("pom.xml"))
                .content()
                .as("the version of this build")
                .contains("<mortise.version>" + ConsumerBuild.VERSION + "</mortise.version>");
        runKit(project, "example.nats.NatsConformanceTest");
    }

    private static void runKit(Path project, String test) throws Exception {
        if (WHOLE_KIT) {
            build.runMaven(project, "verify");
        } else {
            build.runMaven(project, "verify", "-Dtest=" + test + "#S01_clients*+S03_*+S05_a*+S08_the*,*FailureTest");
        }
        assertThat(ConsumerBuild.testsRun(project, test)).isGreaterThan(WHOLE_KIT ? 200 : 10);
    }
}
