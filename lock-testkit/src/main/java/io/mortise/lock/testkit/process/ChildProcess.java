// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A child process that a test can pause, resume and kill with signals.
 *
 * <p>Its standard output and error are read continuously, so it never blocks on a full pipe. Thread-safe.
 */
public abstract sealed class ChildProcess implements AutoCloseable permits ChildJvm, GuardedProcess {
    private static final Logger log = LoggerFactory.getLogger(ChildProcess.class);
    static final Duration KILL_LIMIT = Duration.ofSeconds(10);

    private final String name;
    private final Process process;
    private final ChildOutput output;
    private final Writer stdin;
    private @Nullable FrozenProcess freeze;

    ChildProcess(String name, List<String> command) {
        this.name = name;
        try {
            this.process = new ProcessBuilder(command).start();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " could not be started", e);
        }
        this.output = new ChildOutput(process, name + "-" + process.pid());
        this.stdin = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        log.info("event=child-started name={} pid={}", name, process.pid());
    }

    /**
     * Returns the next line of standard output that matches, and drops the lines before it.
     *
     * @throws IllegalStateException if no such line arrived within {@code limit}, or the output ended; the message has the
     *     child's last lines
     */
    public String awaitLine(Predicate<String> matches, Duration limit) {
        return output.awaitLine(matches, limit);
    }

    /** Returns the next line of standard output; otherwise as {@link #awaitLine}. */
    public String nextLine(Duration limit) {
        return output.awaitLine(line -> true, limit);
    }

    /** Returns the child's last lines on both streams, for an error message. */
    public String lastLines() {
        return output.lastLines();
    }

    /** Writes one line to the child's standard input. */
    public void writeLine(String line) {
        synchronized (stdin) {
            try {
                stdin.write(line + "\n");
                stdin.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Closes the child's standard input. */
    public void closeStdin() {
        synchronized (stdin) {
            try {
                stdin.close();
            } catch (IOException e) {
                log.debug("event=child-stdin-already-closed pid={} error={}", pid(), e.toString());
            }
        }
    }

    /** Returns the operating system's process id. */
    public long pid() {
        return process.pid();
    }

    /** Returns whether the process exists; a paused process does. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Pauses the process (SIGSTOP); its sockets stay open. All its threads are stopped when this returns. No-op if it is
     * already paused. If this JVM ends for any reason, the process is resumed, so that it can detect that and end as well.
     */
    public synchronized void pause() {
        if (freeze == null) {
            freeze = FrozenProcess.of(name, process);
        }
    }

    /** Resumes a paused process (SIGCONT); no-op if it is not paused. */
    public synchronized void resume() {
        if (freeze != null) {
            freeze.close();
            freeze = null;
        }
    }

    /** Kills the process (SIGKILL), paused or not, and waits until it has ended; no-op if it has already ended. */
    public void kill() {
        // Not Process.destroyForcibly(): that closes the pipes too, and the child's last output would be lost.
        process.toHandle().destroyForcibly();
        awaitExit(KILL_LIMIT);
        resume();
    }

    /** Terminates the process (SIGTERM), paused or not, and waits until it has ended; no-op if it has already ended. */
    public void terminate() {
        resume();
        process.toHandle().destroy();
        awaitExit(KILL_LIMIT);
    }

    /**
     * Waits for the process to end and returns its exit code.
     *
     * @throws IllegalStateException if the process still runs after {@code limit}, or the thread is interrupted
     */
    public int awaitExit(Duration limit) {
        try {
            if (process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return process.exitValue();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new IllegalStateException(name + " still runs, pid " + pid());
    }

    /** Kills the process and closes its pipes; idempotent. */
    @Override
    public void close() {
        kill();
        closeStdin();
        output.close();
    }
}
