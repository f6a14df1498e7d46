// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.jr.ob.JSON;

/**
 * The files in {@code target/lock-conformance}: one JSON file for each test class, and the reports that combine them.
 *
 * <p>Several JVMs of a build may write at once. Each writes the file of its class, and combines all of them under a file lock.
 */
final class ReportFiles {
    static final String COMBINED = "report.json";
    private static final String PAGE = "report.html";
    private static final JSON JSON_FORMAT = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT);

    private final Path directory;

    ReportFiles(Path directory) {
        this.directory = directory;
    }

    /** Writes the report of one class and combines all reports. Returns the path of the page. */
    Path write(ClassReport report) throws IOException {
        Path classes = Files.createDirectories(directory.resolve("classes"));
        synchronized (ReportFiles.class) { // a file lock excludes other JVMs only
            try (FileChannel channel = FileChannel.open(
                            directory.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                replace(classes.resolve(report.testClass() + ".json"), toJson(report));
                CombinedReport combined = CombinedReport.of(readClasses(classes));
                replace(directory.resolve(COMBINED), toJson(combined));
                Path page = directory.resolve(PAGE);
                replace(page, ReportPage.html(read(directory.resolve(COMBINED))));
                return page;
            }
        }
    }

    private static List<ClassReport> readClasses(Path classes) throws IOException {
        try (Stream<Path> files = Files.list(classes)) {
            return files.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .map(file -> fromJson(file, ClassReport.class))
                    .toList();
        }
    }

    /** Reads a combined report. */
    static CombinedReport read(Path file) {
        return fromJson(file, CombinedReport.class);
    }

    private static String toJson(Object value) {
        return JSON_FORMAT.asString(value);
    }

    private static <T> T fromJson(Path file, Class<T> type) {
        try {
            return JSON_FORMAT.beanFrom(type, Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Replaces the file in one step, so that no reader sees half of it. */
    static void replace(Path file, String text) throws IOException {
        Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
        Files.writeString(temporary, text);
        Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
