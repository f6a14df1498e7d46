// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Native;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Starts the command that {@code lockctl run} was given in a new process group, signals the group, and awaits the command's
 * end.
 */
final class CommandProcessGroup {
    private static final int NOT_PERMITTED = 1;
    private static final int NO_ENTRY = 2;
    private static final int NO_EXECUTABLE_FORMAT = 8;
    static final int KILL = 9;
    private static final int TERMINATE = 15;

    /** The id of the first process of a container, which adopts all orphaned processes and has to reap them. */
    private static final int FIRST_PROCESS = 1;

    private static final int ANY = -1;

    private final List<byte[]> command;
    private final List<byte[]> environment;
    private volatile int pid;
    private volatile int killedBy;
    private boolean ended;

    CommandProcessGroup(List<byte[]> command, List<byte[]> environment) {
        this.command = command;
        this.environment = environment;
    }

    /**
     * Starts the command, unless it was already killed. Signals that arrive meanwhile wait until {@code started} has returned.
     *
     * @param started called with the id of the process group
     * @return whether the command was started
     * @throws CommandFailedException with exit code 127 or 126 if the command cannot be started
     */
    synchronized boolean start(IntConsumer started) {
        if (ended) {
            return false;
        }
        PosixSpawn.Result result = PosixSpawn.start(command, environment, PosixSpawn.Isolation.GROUP, Optional.empty());
        if (result.error() == NO_EXECUTABLE_FORMAT) {
            result = PosixSpawn.start(viaShell(command), environment, PosixSpawn.Isolation.GROUP, Optional.empty());
        }
        if (result.error() != 0) {
            ended = true;
            throw new CommandFailedException(
                    result.error() == NO_ENTRY ? ExitCodes.NOT_FOUND : ExitCodes.NOT_EXECUTABLE,
                    "cannot run \"" + new String(command.get(0), StandardCharsets.UTF_8) + "\": "
                            + Libc.strerror(result.error()));
        }
        pid = result.pid();
        started.accept(pid);
        return true;
    }

    /** Returns the command that runs a script without an interpreter line ({@code #!}) by the shell, as shells do. */
    private static List<byte[]> viaShell(List<byte[]> command) {
        List<byte[]> arguments = new ArrayList<>();
        for (String word : List.of("/bin/sh", "-c", "exec \"$0\" \"$@\"")) {
            arguments.add(word.getBytes(StandardCharsets.UTF_8));
        }
        arguments.addAll(command);
        return arguments;
    }

    /** Returns the process id, which is also the id of the group; zero before the start. */
    int id() {
        return pid;
    }

    /**
     * Waits for the command itself to end, but not for the other processes of its group.
     *
     * @param stopped called with the number of the signal each time the command is stopped
     * @return the command's exit code, or 128 plus the number of the signal that killed it
     */
    int await(IntConsumer stopped) {
        int[] status = new int[1];
        int awaited = Libc.getpid() == FIRST_PROCESS ? ANY : pid;
        while (true) {
            int changed = Libc.waitpid(awaited, status, Libc.WAIT_UNTRACED);
            if (changed < 0) {
                if (Native.getLastError() != Libc.INTERRUPTED) {
                    throw new IllegalStateException(
                            "cannot wait for the command: " + Libc.strerror(Native.getLastError()));
                }
            } else if (changed == pid && (status[0] & 0xff) == 0x7f) {
                stopped.accept((status[0] >> 8) & 0xff);
            } else if (changed == pid) { // otherwise waitpid has reaped an adopted process
                markEnded();
                int signal = status[0] & 0x7f;
                killedBy = signal;
                return signal != 0 ? ExitCodes.ofSignal(signal) : (status[0] >> 8) & 0xff;
            }
        }
    }

    /** Returns the signal that killed the command; zero if it exited, even with an exit code that looks like a signal's. */
    int killedBy() {
        return killedBy;
    }

    /** Returns whether the command has ended or can no longer start, so that there is nothing to kill. */
    synchronized boolean hasEnded() {
        return ended;
    }

    private synchronized void markEnded() {
        ended = true;
    }

    /** Sends TERM to the whole group. */
    void terminate() {
        signal(TERMINATE);
    }

    /**
     * Sends KILL to the whole group, which also ends stopped processes. A command that has not started will not start any more.
     *
     * @return false if that is not permitted, as the whole group runs as another user
     */
    synchronized boolean kill() {
        if (pid == 0) {
            ended = true;
        }
        return ended || Libc.kill(-pid, KILL) == 0 || Native.getLastError() != NOT_PERMITTED;
    }

    /** Sends a signal to the whole group, or does nothing once the command has ended, as its id may have been reused then. */
    synchronized void signal(int number) {
        if (pid != 0 && !ended) {
            Libc.kill(-pid, number);
        }
    }
}
