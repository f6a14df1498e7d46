// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A temporary directory that is deleted on close, or at the latest when the JVM exits. It is in memory if the system offers
 * that and {@code java.io.tmpdir} has its default value, so that a busy disk does not stall test servers. Thread-safe.
 */
public final class TempDir implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TempDir.class);
    private static final Path MEMORY = Path.of("/dev/shm"); // exists on Linux only
    private static final long MEMORY_NEEDED = 1L << 30; // bytes; a container has only 64 MiB by default
    private static final Set<Path> open = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> List.copyOf(open).forEach(TempDir::delete), "mortise-tempdir-exit"));
    }

    private final Path path;

    private TempDir(Path path) {
        this.path = path;
    }

    /** Creates a directory whose name contains {@code prefix}. */
    public static TempDir create(String prefix) {
        try {
            String name = "mortise-" + prefix + "-";
            Path path = isMemoryUsable() ? Files.createTempDirectory(MEMORY, name) : Files.createTempDirectory(name);
            open.add(path);
            return new TempDir(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isMemoryUsable() throws IOException {
        boolean isDefault = "/tmp".equals(System.getProperty("java.io.tmpdir"));
        return isDefault
                && Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() >= MEMORY_NEEDED;
    }

    public Path path() {
        return path;
    }

    @Override
    public void close() {
        delete(path);
    }

    /** Deletes a directory with its content. Retries, since a server that is just ending may still be writing into it. */
    public static void delete(Path root) {
        IOException last = null;
        for (int attempt = 0; attempt < 5; attempt++) {
            try (Stream<Path> tree = Files.walk(root)) {
                for (Path file : tree.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
                open.remove(root);
                return;
            } catch (NoSuchFileException e) {
                open.remove(root);
                return;
            } catch (IOException | UncheckedIOException e) {
                last = e instanceof UncheckedIOException u ? u.getCause() : (IOException) e;
            }
        }
        log.warn("event=tempdir-left path={} error={}", root, String.valueOf(last));
    }
}
