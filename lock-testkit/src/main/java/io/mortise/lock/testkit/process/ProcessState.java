// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Determines whether a process is stopped by SIGSTOP or has ended.
 *
 * <p>This works for processes that are not children of this JVM. A process may have ended although its parent never reads its
 * exit code, as in a container without an init process.
 */
public final class ProcessState {
    private static final String STOPPED = "T";
    private static final String ZOMBIE = "Z";

    private ProcessState() {}

    /**
     * Returns whether all threads of the process are stopped, or the process itself if the system does not show threads. Also
     * returns false if the state cannot be read now, for example because a thread is ending; callers should then try again.
     */
    public static boolean isStopped(long pid) {
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        try {
            return Files.isDirectory(tasks)
                    ? allThreadsAreStopped(tasks)
                    : stateFromPs(pid).startsWith(STOPPED);
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns whether the process has ended, even if its exit code has not been read. */
    public static boolean hasEnded(long pid) {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            if (Files.exists(Path.of("/proc/self/stat"))) {
                return !Files.exists(stat) || readState(stat).startsWith(ZOMBIE);
            }
            String state = stateFromPs(pid);
            return state.isEmpty() || state.startsWith(ZOMBIE);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean allThreadsAreStopped(Path tasks) throws IOException {
        List<Path> threads;
        try (Stream<Path> listed = Files.list(tasks)) {
            threads = listed.toList();
        }
        for (Path thread : threads) {
            if (!readState(thread.resolve("stat")).startsWith(STOPPED)) {
                return false;
            }
        }
        return true;
    }

    private static String readState(Path stat) throws IOException {
        String text = Files.readString(stat, StandardCharsets.ISO_8859_1);
        // The state follows the name, which is in brackets and may contain any character.
        return text.substring(text.lastIndexOf(')') + 1).strip();
    }

    private static String stateFromPs(long pid) throws IOException {
        Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(pid)).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
}
