// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The process that started this one, and whose end ends a hold. */
final class ParentProcess {
    private static final long LOOKS_EVERY_MILLIS = 500;
    private static final long FIRST_PROCESS = 1;
    private static final int SESSION = 3; // in what follows the command's name

    private ParentProcess() {}

    /**
     * What is meant to outlive its starter is left alone: started by nohup, by setsid, or by what had ended before us.
     *
     * @param ignoresHangup whether we were started to ignore HUP
     * @param ended called once, when it has ended
     */
    static void watch(boolean ignoresHangup, Runnable ended) {
        Optional<ProcessHandle> starter = ProcessHandle.current().parent();
        if (starter.isPresent() && isFollowed(starter.get().pid(), ignoresHangup, leadsSession())) {
            check(starter.get(), ended);
        }
    }

    static boolean isFollowed(long starter, boolean ignoresHangup, boolean leadsSession) {
        return starter > FIRST_PROCESS && !ignoresHangup && !leadsSession;
    }

    private static void check(ProcessHandle starter, Runnable ended) {
        if (!starter.isAlive()) {
            ended.run();
            return;
        }
        Executor later = CompletableFuture.delayedExecutor(LOOKS_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        later.execute(() -> check(starter, ended));
    }

    private static boolean leadsSession() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            String[] facts = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return facts[SESSION].equals(Long.toString(ProcessHandle.current().pid()));
        } catch (IOException e) {
            return false; // not Linux
        }
    }
}
