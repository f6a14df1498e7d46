// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The folder of the inventory files, deleted at the end. */
final class DemoDirectory implements AutoCloseable {
    private final Path path;

    DemoDirectory() throws IOException {
        this.path = Files.createTempDirectory("mortise-demo-");
    }

    Path path() {
        return path;
    }

    /** Idempotent; what cannot be deleted stays, in the system's folder for such things. */
    @Override
    public void close() {
        try (Stream<Path> files = Files.list(path)) {
            List<Path> inside = files.toList();
            for (Path file : inside) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // Nothing depends on it.
        }
    }
}
