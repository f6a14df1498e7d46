// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.process.GuardedProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Podman engine with its own storage, for tests of containers. Its images are made of programs of this machine, so that a test
 * needs no registry. Not thread-safe.
 */
public final class PodmanEngine implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final List<String> FOLDERS = List.of(
            "usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "usr/local", "etc", "proc", "sys", "dev", "run", "tmp");
    private static final Pattern LIBRARY = Pattern.compile("\\s(/\\S+) \\(0x");

    /** Removes the limits that Podman requests as root, since they are higher than some hosts allow. */
    private static final String RUNTIME = """
            #!/bin/sh
            previous=
            for argument; do
              [ "$previous" = --bundle ] && sed -i 's/"rlimits":\\[[^]]*\\]/"rlimits":[]/' "$argument/config.json"
              previous=$argument
            done
            exec runc "$@"
            """;

    private final Path dir;
    private final Path runtime;
    private @Nullable GuardedProcess service;

    /** Creates an engine without images, whose storage is in {@code dir}. */
    public PodmanEngine(Path dir) {
        this.dir = dir;
        this.runtime = dir.resolve("runtime");
        try {
            Files.writeString(runtime, RUNTIME);
            Files.setPosixFilePermissions(runtime, PosixFilePermissions.fromString("rwxr-xr-x"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether this machine has Podman and runc, and this process may start containers, as root on Linux. */
    public static boolean isUsable() {
        try {
            return new ProcessBuilder("sh", "-c", "command -v podman && command -v runc && test $(id -u) = 0")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Returns the command line of this engine, without a subcommand. */
    public List<String> command() {
        // The plain drivers work inside a container too.
        return List.of(
                "podman",
                "--root=" + dir.resolve("storage"),
                "--runroot=" + dir.resolve("run"),
                "--storage-driver=vfs",
                "--runtime=" + runtime,
                "--cgroup-manager=cgroupfs",
                "--events-backend=none");
    }

    /**
     * Runs a subcommand and returns its output.
     *
     * @throws IllegalStateException if it fails; the message has the output
     */
    public String run(String... arguments) {
        List<String> all = new ArrayList<>(command());
        all.addAll(List.of(arguments));
        return output(all);
    }

    /** Creates an image that contains empty folders only. */
    public void importEmptyImage(String image) {
        importImage(image, createRoot(), List.of());
    }

    /**
     * Creates an image of programs of this machine and the libraries that they need.
     *
     * @param image name of the image, with its registry; Testcontainers pulls no image that exists
     * @param command what a container of the image runs by default
     * @param programs paths of the programs, which are in {@code /usr/bin} of the image
     */
    public void importPrograms(String image, List<String> command, List<Path> programs) {
        Path root = createRoot();
        for (Path program : programs) {
            copy(program, root.resolve("usr/bin").resolve(String.valueOf(program.getFileName())));
            LIBRARY.matcher(output(List.of("sh", "-c", "ldd " + program + " || true")))
                    .results()
                    .map((MatchResult found) -> found.group(1))
                    .forEach(library -> copy(Path.of(library), root.resolve(library.substring(1))));
        }
        importImage(image, root, command);
    }

    private Path createRoot() {
        try {
            Path root = Files.createTempDirectory(dir, "root");
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x")); // for any user
            for (String folder : FOLDERS) {
                Files.createDirectories(root.resolve(folder));
            }
            Files.setPosixFilePermissions(root.resolve("tmp"), PosixFilePermissions.fromString("rwxrwxrwx"));
            for (String link : List.of("bin", "sbin", "lib", "lib64")) {
                Files.createSymbolicLink(root.resolve(link), Path.of("usr", link));
            }
            return root;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copy(Path from, Path to) {
        try {
            Files.createDirectories(to.toAbsolutePath().getParent());
            Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void importImage(String image, Path root, List<String> command) {
        String tar = root + ".tar";
        output(List.of("tar", "-C", root.toString(), "-cf", tar, "."));
        List<String> arguments = new ArrayList<>(List.of("import"));
        if (!command.isEmpty()) {
            arguments.add("--change=CMD [\"" + String.join("\", \"", command) + "\"]");
        }
        arguments.addAll(List.of(tar, image));
        run(arguments.toArray(String[]::new));
    }

    /** Starts the service that Testcontainers needs, and returns the environment variables by which it is found. */
    public Map<String, String> startService() {
        Path socket = dir.resolve("podman.sock");
        List<String> serve = new ArrayList<>(command());
        serve.addAll(List.of("system", "service", "--time=0", "unix://" + socket));
        service = GuardedProcess.start("podman", socket, serve);
        Await.until("Podman's service runs", START_LIMIT, () -> Files.exists(socket));
        // Ryuk, which removes what a killed JVM leaves, would come from a registry.
        return Map.of(
                "DOCKER_HOST", "unix://" + socket,
                "TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1",
                "TESTCONTAINERS_RYUK_DISABLED", "true");
    }

    /** Removes all containers, and ends the service. */
    @Override
    public void close() {
        run("rm", "--all", "--force", "--time=0");
        if (service != null) {
            service.close();
        }
    }

    private static String output(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (process.waitFor() != 0) {
                throw new IllegalStateException(command + " failed: " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while running " + command, e);
        }
    }
}
