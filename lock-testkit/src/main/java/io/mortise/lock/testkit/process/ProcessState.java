// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Tells whether a process has been stopped. And whether one that is not our child has ended: its exit code may wait for ever
 * for a parent that asks, as in a container without an init.
 */
public final class ProcessState {
    private static final String STOPPED = "T";
    private static final String ZOMBIE = "Z";

    private ProcessState() {}

    /**
     * Whether each thread of it is stopped; where threads cannot be seen, the process. False also if that cannot be read just
     * now, as when a thread ends meanwhile: ask again.
     */
    public static boolean isStopped(long pid) {
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        try {
            return Files.isDirectory(tasks)
                    ? eachThreadIsStopped(tasks)
                    : asPsSays(pid).startsWith(STOPPED);
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether it runs no more, even if its exit code has not been fetched. */
    public static boolean hasEnded(long pid) {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            if (Files.exists(Path.of("/proc/self/stat"))) {
                return !Files.exists(stat) || stateIn(stat).startsWith(ZOMBIE);
            }
            String state = asPsSays(pid);
            return state.isEmpty() || state.startsWith(ZOMBIE);
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
            if (!stateIn(thread.resolve("stat")).startsWith(STOPPED)) {
                return false;
            }
        }
        return true;
    }

    private static String stateIn(Path stat) throws IOException {
        String text = Files.readString(stat, StandardCharsets.ISO_8859_1);
        // The state follows the name, which is in brackets and may contain any character.
        return text.substring(text.lastIndexOf(')') + 1).strip();
    }

    private static String asPsSays(long pid) throws IOException {
        Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(pid)).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
}
