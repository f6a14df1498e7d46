// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A child JVM with the class path of this one, which can be paused, resumed and killed for real. Thread-safe.
 *
 * <p>The main class should call {@link StdinWatchdog#install()} first, so that the child ends with this JVM. Its standard
 * output and error are read all the time, so the child never blocks on a full pipe.
 */
public final class ChildJvm implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ChildJvm.class);
    private static final Duration KILL_LIMIT = Duration.ofSeconds(10);

    private final Process process;
    private final String name;
    private final ChildOutput output;
    private final Writer stdin;

    private ChildJvm(Process process, String name) {
        this.process = process;
        this.name = name;
        this.output = new ChildOutput(process, name + "-" + process.pid());
        this.stdin = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }

    /**
     * Starts a child JVM; returns without waiting for anything that it prints.
     *
     * @param mainClass its main class, found on the class path of this JVM
     * @param systemProperties passed as {@code -Dname=value}
     * @param args its arguments
     */
    public static ChildJvm start(Class<?> mainClass, Map<String, String> systemProperties, List<String> args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Several children share few cores: one collector thread each, and no big heap.
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-cp", System.getProperty("java.class.path")));
        systemProperties.forEach((key, value) -> command.add("-D" + key + "=" + value));
        command.add(mainClass.getName());
        command.addAll(args);
        try {
            Process process = new ProcessBuilder(command).start();
            log.info("event=child-started main={} pid={}", mainClass.getSimpleName(), process.pid());
            return new ChildJvm(process, mainClass.getSimpleName());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The next line of standard output that matches; lines before it are skipped and gone.
     *
     * @throws IllegalStateException if none came within {@code limit}, or the output ended; it names the child's last lines
     */
    public String awaitLine(Predicate<String> matches, Duration limit) {
        return output.awaitLine(matches, limit);
    }

    /** The next line of standard output, whatever it is; as {@link #awaitLine} otherwise. */
    public String nextLine(Duration limit) {
        return output.awaitLine(line -> true, limit);
    }

    /** What the child said last, on either stream: for an error message. */
    public String lastLines() {
        return output.lastLines();
    }

    /** Writes one line to the child's standard input. */
    public synchronized void writeLine(String line) {
        try {
            stdin.write(line + "\n");
            stdin.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the child's standard input, which is the signal to end for a child with a {@link StdinWatchdog}. */
    public synchronized void closeStdin() {
        try {
            stdin.close();
        } catch (IOException e) {
            log.debug("event=child-stdin-already-closed pid={} error={}", pid(), e.toString());
        }
    }

    /** The operating system's process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process exists; a paused one does. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Stops the process in its tracks (SIGSTOP); its sockets stay open. All its threads stand still when this returns. */
    public void pause() {
        signal("STOP");
        Await.until(
                name + " stands still", KILL_LIMIT, () -> !process.isAlive() || ProcessState.isStopped(process.pid()));
    }

    /** Lets a paused process go on (SIGCONT). */
    public void resume() {
        signal("CONT");
    }

    /** Kills the process (SIGKILL), paused or not, and returns when it is gone; no-op if it already is. */
    public void kill() {
        process.destroyForcibly();
        awaitExit(KILL_LIMIT);
    }

    /**
     * Waits for the process to end and returns its exit code.
     *
     * @throws IllegalStateException if it still runs after {@code limit}, or the thread is interrupted
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

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).start();
            if (!kill.waitFor(KILL_LIMIT.toSeconds(), TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IllegalStateException("kill -" + signal + " failed for " + name + ", pid " + pid());
            }
            log.debug("event=child-signalled signal={} pid={}", signal, pid());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while signalling pid " + pid(), e);
        }
    }
}
