// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Watches the process that started {@code lockctl hold}, so that the hold ends when that process ends. */
final class ParentProcess {
    private static final long POLL_INTERVAL_MILLIS = 500;
    private static final long FIRST_PROCESS = 1;
    private static final int SESSION = 3; // index of the session id in /proc/PID/stat, after the command's name

    private ParentProcess() {}

    /**
     * Starts watching the parent process, unless this process is meant to outlive it: if it was started by nohup or setsid, or
     * by a process that has already ended.
     *
     * @param ignoresHangup whether this process was started with HUP ignored
     * @param ended called once, when the parent process has ended
     */
    static void watch(boolean ignoresHangup, Runnable ended) {
        Optional<ProcessHandle> parent = ProcessHandle.current().parent();
        if (parent.isPresent() && mustFollow(parent.get().pid(), ignoresHangup, leadsSession())) {
            check(parent.get(), ended);
        }
    }

    static boolean mustFollow(long parent, boolean ignoresHangup, boolean leadsSession) {
        return parent > FIRST_PROCESS && !ignoresHangup && !leadsSession;
    }

    private static void check(ProcessHandle parent, Runnable ended) {
        if (!parent.isAlive() || !isOurs(parent)) {
            ended.run();
            return;
        }
        Executor later = CompletableFuture.delayedExecutor(POLL_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
        later.execute(() -> check(parent, ended));
    }

    /** A parent that has ended, but which its own parent has not reaped, still counts as alive; its children have another one. */
    private static boolean isOurs(ProcessHandle parent) {
        return ProcessHandle.current()
                .parent()
                .filter(current -> current.pid() == parent.pid())
                .isPresent();
    }

    private static boolean leadsSession() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[SESSION].equals(Long.toString(ProcessHandle.current().pid()));
        } catch (IOException e) {
            return false; // not Linux
        }
    }
}
