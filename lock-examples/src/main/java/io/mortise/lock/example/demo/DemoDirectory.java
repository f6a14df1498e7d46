// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A temporary directory for the demo's stock files, which hold the numbers of items left; deleted on close. */
final class DemoDirectory implements AutoCloseable {
    private final Path path;

    DemoDirectory() throws IOException {
        this.path = Files.createTempDirectory("mortise-demo-");
    }

    Path path() {
        return path;
    }

    /** Deletes the directory; a file that cannot be deleted stays in the system's temporary directory. Idempotent. */
    @Override
    public void close() {
        try (Stream<Path> files = Files.list(path)) {
            List<Path> inside = files.toList();
            for (Path file : inside) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // The demo's result does not depend on it.
        }
    }
}
