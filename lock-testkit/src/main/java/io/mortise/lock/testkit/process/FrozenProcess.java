// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a process stopped by SIGSTOP until this object is closed.
 *
 * <p>A stopped process cannot detect that this JVM has ended. Therefore a guard shell sends the signals: it resumes the process
 * also when this JVM ends for any reason.
 */
final class FrozenProcess implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FrozenProcess.class);
    // Ignores signals that are sent to all processes of a terminal or build, which would end the guard early.
    private static final String STOP_UNTIL_END_OF_INPUT =
            "trap '' HUP INT QUIT TERM; kill -STOP \"$0\" && { read -r _; kill -CONT \"$0\"; }";

    private final Process frozen;
    private final Process guard;

    private FrozenProcess(Process frozen, Process guard) {
        this.frozen = frozen;
        this.guard = guard;
    }

    /** Stops the process; all its threads are stopped when this returns, unless the process has ended. */
    static FrozenProcess of(String name, Process process) {
        String pid = Long.toString(process.pid());
        try {
            Process guard = new ProcessBuilder("sh", "-c", STOP_UNTIL_END_OF_INPUT, pid)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            FrozenProcess freeze = new FrozenProcess(process, guard);
            try {
                Await.until(
                        name + " is frozen", ChildProcess.KILL_LIMIT, () -> freeze.isInEffect() || !guard.isAlive());
            } catch (IllegalStateException e) {
                freeze.close();
                throw e;
            }
            if (!freeze.isInEffect()) {
                throw new IllegalStateException("kill -STOP failed for " + name + ", pid " + pid);
            }
            log.debug("event=child-paused name={} pid={}", name, pid);
            return freeze;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isInEffect() {
        return !frozen.isAlive() || ProcessState.isStopped(frozen.pid());
    }

    /** Resumes the process (SIGCONT); the signal has been sent when this returns. */
    @Override
    public void close() {
        if (!frozen.isAlive()) {
            guard.destroyForcibly(); // the process id may soon be reused
            return;
        }
        try {
            guard.getOutputStream().close();
            if (guard.waitFor(ChildProcess.KILL_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                log.debug("event=child-resumed pid={}", frozen.pid());
                return;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            // The guard's input is closed, so it will resume the process.
            Thread.currentThread().interrupt();
            return;
        }
        throw new IllegalStateException("kill -CONT did not complete, pid " + frozen.pid());
    }
}
