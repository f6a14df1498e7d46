// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.NativeLong;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.DefaultOptions;
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
 * A small shell in a session of its own, which kills the command when lockctl cannot. It kills the command's process group at
 * once when this process has ended, and when it hears nothing for as long as it was told, since this process is stopped then.
 */
final class Watchdog {
    private static final String SHELL = "/bin/sh";
    private static final Duration FAREWELL = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(2);
    private static final int NO_HANG = 1;

    private final String owner;
    private int pid;
    private int pipe;
    private int group; // zero before the command is started
    private long until;

    private Watchdog(String owner) {
        this.owner = owner;
    }

    /**
     * Starts it.
     *
     * @param owner by which it finds a command that we had no time to tell of: what that has as its LOCK_OWNER
     * @throws CommandFailed if that is not possible
     */
    static Watchdog start(String owner) {
        Watchdog watchdog = new Watchdog(owner);
        watchdog.startProcess();
        return watchdog;
    }

    private void startProcess() {
        int[] ends = new int[2];
        if (Libc.pipe(ends) != 0) {
            throw new CommandFailedException(ExitCodes.IO, "cannot make a pipe");
        }
        List<byte[]> arguments = List.of(bytes(SHELL), bytes("-c"), script(), bytes("lockctl-watchdog"), bytes(owner));
        PosixSpawn.Result started = PosixSpawn.start(
                arguments,
                ArgumentBytes.environment(Map.of(DefaultOptions.URL, "")),
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

    /** From now on it is that group which it kills when this process has ended. */
    synchronized void watch(int theGroup) {
        group = theGroup;
        tell();
    }

    /** It kills the group when that time has passed, unless it hears more. */
    synchronized void waitFor(Duration time) {
        until = System.nanoTime() + time.toNanos();
        tell();
    }

    private void tell() {
        say(String.format(Locale.ROOT, "%d %.3f", group, Math.max(0, until - System.nanoTime()) / 1e9));
    }

    /** Whether nobody has killed it. */
    synchronized boolean runs() {
        return Libc.waitpid(pid, new int[1], NO_HANG) == 0;
    }

    /** Puts another in its place, which has to be told how long to wait. */
    synchronized void startAnother() {
        Libc.close(pipe);
        startProcess();
    }

    /** Never blocks: a watchdog that does not listen must not stop whoever else watches the lease. */
    private void say(String word) {
        byte[] line = bytes(word + "\n");
        if (Libc.canWrite(pipe)) {
            Libc.write(pipe, line, new NativeLong(line.length));
        }
    }

    /**
     * Leaves no process behind.
     *
     * @param dismissed whether it has nothing to do any more; else it kills the group
     */
    synchronized void close(boolean dismissed) {
        if (dismissed) {
            say("done");
        }
        Libc.close(pipe);
        long begin = System.nanoTime();
        while (runs() && System.nanoTime() - begin < FAREWELL.toNanos()) {
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
