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

/** The command, in a process group of its own with everything that it starts. */
final class CommandProcessGroup {
    private static final int NOT_PERMITTED = 1;
    private static final int NO_ENTRY = 2;
    private static final int NOT_A_FORMAT = 8;
    static final int KILL = 9;
    private static final int TERMINATE = 15;

    /** The first process of a container is the parent of all that have lost theirs, and has to bury them. */
    private static final int FIRST_PROCESS = 1;

    private static final int ANY = -1;

    private final List<byte[]> command;
    private final List<byte[]> environment;
    private volatile int pid;
    private volatile int killedBy;
    private boolean over;

    CommandProcessGroup(List<byte[]> command, List<byte[]> environment) {
        this.command = command;
        this.environment = environment;
    }

    /**
     * Starts it, unless it was killed already. Signals that come meanwhile wait until {@code started} has returned.
     *
     * @param started gets the group's number
     * @return whether it runs
     * @throws CommandFailed with 127 or 126 if that is not possible
     */
    synchronized boolean start(IntConsumer started) {
        if (over) {
            return false;
        }
        PosixSpawn.Result result = PosixSpawn.start(command, environment, PosixSpawn.Isolation.GROUP, Optional.empty());
        if (result.error() == NOT_A_FORMAT) {
            result = PosixSpawn.start(byShell(command), environment, PosixSpawn.Isolation.GROUP, Optional.empty());
        }
        if (result.error() != 0) {
            over = true;
            throw new CommandFailedException(
                    result.error() == NO_ENTRY ? ExitCodes.NOT_FOUND : ExitCodes.NOT_EXECUTABLE,
                    "cannot run \"" + new String(command.get(0), StandardCharsets.UTF_8) + "\": "
                            + Libc.strerror(result.error()));
        }
        pid = result.pid();
        started.accept(pid);
        return true;
    }

    /** A script that does not say what it is for, is for the shell, as everywhere. */
    private static List<byte[]> byShell(List<byte[]> command) {
        List<byte[]> arguments = new ArrayList<>();
        for (String word : List.of("/bin/sh", "-c", "exec \"$0\" \"$@\"")) {
            arguments.add(word.getBytes(StandardCharsets.UTF_8));
        }
        arguments.addAll(command);
        return arguments;
    }

    /** The process id, and the group's; zero before the start. */
    int id() {
        return pid;
    }

    /**
     * Waits for the command itself to end; the others of its group are not waited for.
     *
     * @param stopped called with the signal each time that it was stopped
     * @return its exit code, or 128 and the signal that killed it
     */
    int await(IntConsumer stopped) {
        int[] status = new int[1];
        int awaited = Libc.getpid() == FIRST_PROCESS ? ANY : pid;
        while (true) {
            int changed = Libc.waitpid(awaited, status, Libc.WAIT_UNTRACED);
            if (changed < 0) {
                if (Native.getLastError() != Libc.INTERRUPTED) {
                    throw new IllegalStateException("the command's end was missed");
                }
            } else if (changed == pid && (status[0] & 0xff) == 0x7f) {
                stopped.accept((status[0] >> 8) & 0xff);
            } else if (changed == pid) { // else it was adopted, and is buried by this
                ended();
                int signal = status[0] & 0x7f;
                killedBy = signal;
                return signal != 0 ? ExitCodes.ofSignal(signal) : (status[0] >> 8) & 0xff;
            }
        }
    }

    /** The signal that killed it; zero if it ended by itself, also with an exit code that looks like that of a signal. */
    int killedBy() {
        return killedBy;
    }

    /** Whether there is nothing to kill: it has ended, or cannot start any more. */
    synchronized boolean hasEnded() {
        return over;
    }

    private synchronized void ended() {
        over = true;
    }

    /** Asks all of the group to end. */
    void terminate() {
        signal(TERMINATE);
    }

    /**
     * Ends all of the group, stopped or not; it is not started any more.
     *
     * @return false if we may not, since all of it runs as another user
     */
    synchronized boolean kill() {
        if (pid == 0) {
            over = true;
        }
        return over || Libc.kill(-pid, KILL) == 0 || Native.getLastError() != NOT_PERMITTED;
    }

    /** To all of the group; nothing once the command has ended, as its number may be another's then. */
    synchronized void signal(int number) {
        if (pid != 0 && !over) {
            Libc.kill(-pid, number);
        }
    }
}
