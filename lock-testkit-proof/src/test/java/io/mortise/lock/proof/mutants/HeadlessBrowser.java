// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Opens pages in a Chromium without a window, each time in a new process with a profile of its own. */
final class HeadlessBrowser {
    private static final List<String> PROGRAMS = List.of("chromium", "chromium-browser", "google-chrome");
    private static final Pattern RESULT = Pattern.compile("<title>measured ([^<]*)</title>");

    private final Path program;
    private final Path folder;

    private HeadlessBrowser(Path program, Path folder) {
        this.program = program;
        this.folder = folder;
    }

    /** Finds the browser, or aborts the test. */
    static HeadlessBrowser find(Path folder) {
        List<Path> found = PROGRAMS.stream()
                .flatMap(name -> Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                        .map(directory -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .toList();
        Assumptions.assumeFalse(
                found.isEmpty(), "no chromium on the PATH (Debian: apt-get install chromium): the page was not opened");
        return new HeadlessBrowser(found.get(0), folder);
    }

    /**
     * Returns what a script measures on the page, which is shown in a frame of the given width.
     *
     * @param script an expression; {@code page} is the document and {@code view} its window
     */
    String measure(Path page, int width, boolean dark, String script) throws Exception {
        String document = Files.readString(page).replace("&", "&amp;").replace("\"", "&quot;");
        Path frame = Files.createTempFile(folder, "frame", ".html");
        Files.writeString(frame, """
                <!doctype html><meta charset="utf-8"><title>loading</title>
                <script>
                function measure(frame) {
                  const page = frame.contentDocument, view = frame.contentWindow;
                  document.title = 'measured ' + (%s);
                }
                </script>
                <iframe width="%d" height="800" style="border:0" onload="measure(this)" srcdoc="%s"></iframe>
                """.formatted(script, width, document));
        Matcher result =
                RESULT.matcher(run(dark, List.of("--dump-dom", frame.toUri().toString())));
        assertThat(result.find()).as("the page loads").isTrue();
        return result.group(1);
    }

    void screenshot(Path page, int width, int height, boolean dark, Path file) throws Exception {
        run(
                dark,
                List.of(
                        "--hide-scrollbars",
                        "--window-size=" + width + "," + height,
                        "--screenshot=" + file.toAbsolutePath(),
                        page.toUri().toString()));
    }

    private String run(boolean dark, List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "--headless",
                "--no-sandbox", // which root may not have; the pages are our own
                "--disable-gpu",
                "--user-data-dir=" + Files.createTempDirectory(folder, "profile")));
        if (dark) {
            command.add("--force-dark-mode");
        }
        Path out = Files.createTempFile(folder, "browser", ".out");
        Process process = new ProcessBuilder(
                        Stream.concat(command.stream(), arguments.stream()).toList())
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            assertThat(process.waitFor(50, TimeUnit.SECONDS))
                    .as("the browser ends")
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return Files.readString(out, StandardCharsets.UTF_8);
    }
}
