// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.DefaultStoreUrl;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * A separate shell process that kills the child command of {@code lockctl run} when lockctl has died or is suspended. It kills
 * the command's process group as soon as lockctl has ended, or when it has received no new deadline in time, as lockctl must be
 * stopped then.
 */
final class Watchdog {
    private static final String SHELL = "/bin/sh";
    private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(2);

    private final String owner;
    private int pid;
    private int pipe;
    private int group; // zero before the command is started
    private long deadline;

    private Watchdog(String owner) {
        this.owner = owner;
    }

    /**
     * Starts a watchdog.
     *
     * @param owner the LOCK_OWNER of the command, by which the watchdog finds a command whose group it does not know yet
     * @throws CommandFailedException if the shell cannot be started
     */
    static Watchdog start(String owner) {
        Watchdog watchdog = new Watchdog(owner);
        watchdog.startProcess();
        return watchdog;
    }

    private void startProcess() {
        int[] ends = new int[2];
        if (Libc.pipe(ends) != 0) {
            throw new CommandFailedException(
                    ExitCodes.IO, "cannot create a pipe for the watchdog: " + Libc.strerror(Native.getLastError()));
        }
        List<byte[]> arguments = List.of(bytes(SHELL), bytes("-c"), script(), bytes("lockctl-watchdog"), bytes(owner));
        PosixSpawn.Result started = PosixSpawn.start(
                arguments,
                EnvironmentBytes.with(Map.of(DefaultStoreUrl.URL, "")),
                PosixSpawn.Isolation.SESSION,
                Optional.of(ends[0]));
        Libc.close(ends[0]);
        if (started.error() != 0) {
            Libc.close(ends[1]);
            throw new CommandFailedException(
                    ExitCodes.IO, "cannot start " + SHELL + " as a watchdog: " + Libc.strerror(started.error()));
        }
        pid = started.pid();
        pipe = ends[1];
    }

    /** Sets the process group to kill. */
    synchronized void watch(int newGroup) {
        group = newGroup;
        sendState();
    }

    /** Lets the watchdog kill the group after the given time, unless it receives another time before. */
    synchronized void killAfter(Duration time) {
        deadline = System.nanoTime() + time.toNanos();
        sendState();
    }

    private void sendState() {
        send(String.format(Locale.ROOT, "%d %.3f", group, Math.max(0, deadline - System.nanoTime()) / 1e9));
    }

    /** Returns whether the watchdog process is still running. */
    synchronized boolean isRunning() {
        return Libc.waitpid(pid, new int[1], Libc.NO_HANG) == 0;
    }

    /** Starts a new watchdog process, which needs a new deadline. */
    synchronized void restart() {
        Libc.close(pipe);
        startProcess();
    }

    /** Sends a message without blocking: a watchdog that does not read must not block the monitoring of the lease. */
    private void send(String message) {
        byte[] line = bytes(message + "\n");
        if (Libc.canWrite(pipe)) {
            Libc.write(pipe, line, new NativeLong(line.length));
        }
    }

    /**
     * Ends the watchdog process, and waits for its end for a limited time.
     *
     * @param dismissed whether the watchdog has nothing to do any more; otherwise it kills the group
     */
    synchronized void close(boolean dismissed) {
        if (dismissed) {
            send("done");
        }
        Libc.close(pipe);
        long begin = System.nanoTime();
        while (isRunning() && System.nanoTime() - begin < EXIT_TIMEOUT.toNanos()) {
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private static byte[] script() {
        try (InputStream file = Objects.requireNonNull(Watchdog.class.getResourceAsStream("watchdog.sh"))) {
            return file.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
