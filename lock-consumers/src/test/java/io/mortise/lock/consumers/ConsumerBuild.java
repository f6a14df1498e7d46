// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs Maven on projects of users in a temporary directory, with a separate local repository.
 *
 * <p>The repository contains Mortise's POMs and jars as the current build created them. All other artifacts come from the
 * user's local repository, and artifacts that are missing there are downloaded into it.
 */
final class ConsumerBuild {
    private static final Path ROOT = Path.of(System.getProperty("mortise.root"));
    private static final Path USER_REPOSITORY = Path.of(System.getProperty("mortise.repository"));
    static final String VERSION = System.getProperty("mortise.version");
    private static final String CLASSPATH_GOAL =
            "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath";

    private static final Pattern TOTALS =
            Pattern.compile("<testsuite [^>]*tests=\"(\\d+)\"[^>]*skipped=\"(\\d+)\"", Pattern.DOTALL);

    private final Path directory;
    private final Path repository;

    private ConsumerBuild(Path directory) {
        this.directory = directory;
        this.repository = directory.resolve("repository");
    }

    /** Resolves the class paths of all consumers in one run of Maven. */
    static ConsumerBuild resolve(Path directory, List<Consumer> consumers) throws IOException, InterruptedException {
        ConsumerBuild build = stage(directory);
        for (Consumer consumer : consumers) {
            Path project = Files.createDirectories(directory.resolve(consumer.name()));
            Files.writeString(project.resolve("pom.xml"), consumer.pom());
        }
        Files.writeString(directory.resolve("pom.xml"), Consumer.aggregator(consumers));
        build.runMaven(directory, "-q", "-Dmdep.outputFile=classpath", CLASSPATH_GOAL);
        return build;
    }

    /** Returns the jars on the class path of a consumer. */
    List<String> classpath(Consumer consumer) throws IOException {
        String line = Files.readString(directory.resolve(consumer.name()).resolve("classpath"));
        return List.of(line.strip().split(File.pathSeparator, -1));
    }

    /** Stages Mortise's artifacts in a repository below the directory. */
    static ConsumerBuild stage(Path directory) throws IOException {
        ConsumerBuild build = new ConsumerBuild(directory);
        build.stage();
        return build;
    }

    private void stage() throws IOException {
        link(USER_REPOSITORY, repository);
        link(USER_REPOSITORY.resolve("io"), repository.resolve("io"));
        Path group = Files.createDirectories(repository.resolve("io/mortise"));
        publish(group, "lock-parent", ROOT.resolve("pom.xml"));
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(path -> Files.exists(path.resolve("pom.xml")))
                    .toList()) {
                publish(group, module.getFileName().toString(), module.resolve("pom.xml"));
            }
        }
    }

    /** Links all entries except {@code io}, where Mortise's artifacts are staged, and {@code io/mortise}. */
    private static void link(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.toList()) {
                String name = entry.getFileName().toString();
                if (!name.equals("io") && !name.equals("mortise")) {
                    Files.createSymbolicLink(to.resolve(name), entry);
                }
            }
        }
    }

    private static void publish(Path group, String artifact, Path pom) throws IOException {
        Path version = Files.createDirectories(group.resolve(artifact).resolve(VERSION));
        String file = artifact + "-" + VERSION;
        Files.copy(pom, version.resolve(file + ".pom"));
        Path jar = pom.resolveSibling("target").resolve(file + ".jar");
        if (Files.exists(jar)) {
            Files.copy(jar, version.resolve(file + ".jar"));
        }
    }

    /**
     * Runs Maven on a project.
     *
     * @throws IllegalStateException if it fails; the message has Maven's output
     */
    void runMaven(Path project, String... arguments) throws IOException, InterruptedException {
        runMaven(project, Map.of(), arguments);
    }

    /** Does the same as the other method, with more environment variables. */
    void runMaven(Path project, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        Path log = directory.resolve("maven-" + project.getFileName() + ".log");
        List<String> command = new ArrayList<>(List.of("mvn", "-B", "-Dmaven.repo.local=" + repository));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"); // it runs for seconds
        builder.environment().putAll(environment);
        Process maven = builder.start();
        boolean ended = maven.waitFor(8, TimeUnit.MINUTES);
        if (!ended) {
            maven.destroyForcibly();
        }
        if (!ended || maven.exitValue() != 0) {
            throw new IllegalStateException("Maven failed in " + project + ": " + Files.readString(log));
        }
    }

    /** Copies a project without what was built there, and returns the copy. */
    static Path copy(Path from, Path to) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(from)) {
            files = all.filter(file ->
                            Files.isRegularFile(file) && !from.relativize(file).startsWith("target"))
                    .toList();
        }
        for (Path file : files) {
            Path copy = to.resolve(from.relativize(file));
            Files.createDirectories(copy.getParent());
            Files.copy(file, copy);
        }
        return to;
    }

    /** Returns the number of tests that ran and were not skipped. */
    static int testsRun(Path project, String testClass) throws IOException {
        String report = Files.readString(project.resolve("target/surefire-reports/TEST-" + testClass + ".xml"));
        Matcher totals = TOTALS.matcher(report);
        if (!totals.find()) {
            throw new IllegalStateException("No totals in " + report);
        }
        return Integer.parseInt(totals.group(1)) - Integer.parseInt(totals.group(2));
    }
}
