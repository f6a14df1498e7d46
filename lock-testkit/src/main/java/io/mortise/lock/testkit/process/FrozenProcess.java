// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that is stopped by SIGSTOP until this is closed. A stopped process cannot see that this JVM has ended, so the small
 * shell that stops it watches over it: it wakes it when this JVM ends, however that ends.
 */
final class FrozenProcess implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FrozenProcess.class);
    // Signals for all of a terminal's or a build's processes do not end it early.
    private static final String STOP_UNTIL_END_OF_INPUT =
            "trap '' HUP INT QUIT TERM; kill -STOP \"$0\" && { read -r _; kill -CONT \"$0\"; }";

    private final Process frozen;
    private final Process guard;

    private FrozenProcess(Process frozen, Process guard) {
        this.frozen = frozen;
        this.guard = guard;
    }

    /** All threads of the process stand still when this returns, unless it has ended. */
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

    /** Lets it go on (SIGCONT); that is done when this returns. */
    @Override
    public void close() {
        if (!frozen.isAlive()) {
            guard.destroyForcibly(); // its process id may soon be another's
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
            // The guard has been told, and does it.
            Thread.currentThread().interrupt();
            return;
        }
        throw new IllegalStateException("kill -CONT is not done, pid " + frozen.pid());
    }
}
