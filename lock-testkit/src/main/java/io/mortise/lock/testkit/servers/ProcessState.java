// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Whether a process stands still: a stop signal takes effect only when one of its threads gets to run. */
final class ProcessState {
    private static final String STOPPED = "T";

    private ProcessState() {}

    /**
     * Whether each thread of it is stopped; where threads cannot be seen, the process. False also if that cannot be read just
     * now, as when a thread ends meanwhile: ask again.
     */
    static boolean isStopped(long pid) {
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        try {
            return Files.isDirectory(tasks)
                    ? eachThreadIsStopped(tasks)
                    : asPsSays(pid).startsWith(STOPPED);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean eachThreadIsStopped(Path tasks) throws IOException {
        List<Path> threads;
        try (Stream<Path> listed = Files.list(tasks)) {
            threads = listed.toList();
        }
        for (Path thread : threads) {
            // The state follows the name, which is in brackets and may contain any character.
            String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
            if (!stat.substring(stat.lastIndexOf(')') + 1).strip().startsWith(STOPPED)) {
                return false;
            }
        }
        return true;
    }

    private static String asPsSays(long pid) throws IOException {
        Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(pid)).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
}
