// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Sets the wall clock of one child process through libfaketime, without affecting its monotonic clock. */
final class FaketimeClock {
    private static final List<Path> LIBRARY_DIRS = List.of(Path.of("/usr/lib"), Path.of("/usr/lib64"));
    private static final String LIBRARY = "faketime/libfaketime.so.1";

    private final Path file;

    /**
     * Creates a clock that shows the right time.
     *
     * @param dir directory for the file with the clock's setting
     */
    FaketimeClock(Path dir) {
        this.file = dir.resolve("clock");
        set(Duration.ZERO);
    }

    static boolean isAvailable() {
        return library().isPresent() && libc().isPresent();
    }

    /** Sets the clock ahead of the right time by {@code ahead}; in effect when this returns. */
    void set(Duration ahead) {
        Path next = file.resolveSibling("clock.next");
        try {
            Files.writeString(next, String.format(Locale.ROOT, "%+.3f", ahead.toMillis() / 1_000.0));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the command with the environment that gives it this clock.
     *
     * @throws IllegalStateException if libfaketime is not available; the message says in one line what to install
     */
    List<String> wrap(List<String> command) {
        if (!isAvailable()) {
            throw new IllegalStateException(
                    "libfaketime not found: install it (Debian: apt-get install faketime); it is supported on Linux only");
        }
        List<String> wrapped = new ArrayList<>(List.of(
                "env",
                // libc is preloaded too: Redis's allocator reads the time before libfaketime has initialized its clock.
                "LD_PRELOAD=" + library().orElseThrow() + " " + libc().orElseThrow(),
                "FAKETIME_TIMESTAMP_FILE=" + file,
                "FAKETIME_NO_CACHE=1",
                "FAKETIME_DONT_FAKE_MONOTONIC=1"));
        wrapped.addAll(command);
        return wrapped;
    }

    private static Optional<Path> library() {
        return LIBRARY_DIRS.stream()
                .flatMap(dir -> Stream.concat(Stream.of(dir), subdirectories(dir)))
                .map(dir -> dir.resolve(LIBRARY))
                .filter(Files::exists)
                .findFirst();
    }

    private static Stream<Path> subdirectories(Path dir) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(dir, Files::isDirectory)) {
            entries.forEach(found::add);
        } catch (IOException e) { // no such directory
            return Stream.empty();
        }
        return found.stream();
    }

    /** Returns the C library that this JVM uses. */
    private static Optional<Path> libc() {
        Path maps = Path.of("/proc/self/maps");
        if (!Files.exists(maps)) {
            return Optional.empty();
        }
        try (Stream<String> lines = Files.lines(maps)) {
            return lines.filter(line -> line.endsWith("/libc.so.6"))
                    .map(line -> Path.of(line.substring(line.indexOf('/'))))
                    .findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
