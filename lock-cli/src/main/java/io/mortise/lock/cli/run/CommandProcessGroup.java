// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Native;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
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

    private static final Duration PAUSE = Duration.ofMillis(10);

    private final List<byte[]> command;
    private final List<byte[]> environment;
    private volatile int pid;
    private volatile int killedBy;
    private volatile boolean mustEnd;
    private volatile boolean killedRest;
    private long killAt; // if it must end
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
     * Waits for the command itself to end. Waits for the other processes of its group only after {@link #terminate} or
     * {@link #kill}: then none of them runs any more, as far as this process may kill them.
     *
     * @param stopped called with the number of the signal each time the command is stopped
     * @return the command's exit code, or 128 plus the number of the signal that killed it
     */
    int await(IntConsumer stopped) {
        boolean adopts = Libc.getpid() == FIRST_PROCESS;
        while (true) {
            ChildStateChange change = adopts ? ChildStateChange.awaitAny() : ChildStateChange.await(pid);
            if (change.stopped()) {
                change.acknowledgeStop();
                if (change.pid() == pid) {
                    stopped.accept(change.status());
                }
            } else if (change.pid() == pid) {
                return awaitRest();
            } else {
                hasReaped(change.pid()); // an adopted process
            }
        }
    }

    /** Lets the rest of a group that must end run until the kill is due. Then reaps the command; returns its exit code. */
    private int awaitRest() {
        while (true) {
            OptionalInt code = reapUnlessRestMayRun(mustEnd && restRuns());
            if (code.isPresent()) {
                return code.getAsInt();
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** The group's id belongs to us only until the command is reaped: kills before that, and signals nothing afterwards. */
    private synchronized OptionalInt reapUnlessRestMayRun(boolean restRuns) {
        if (restRuns && System.nanoTime() - killAt < 0) {
            return OptionalInt.empty();
        }
        if (mustEnd) {
            Libc.kill(-pid, KILL); // also reaches a process that was just being started when restRuns was determined
            killedRest = restRuns;
        }
        ended = true;
        int[] status = new int[1];
        while (Libc.waitpid(pid, status, 0) < 0 && Native.getLastError() == Libc.INTERRUPTED) {
            // try again
        }
        killedBy = status[0] & 0x7f;
        return OptionalInt.of(killedBy != 0 ? ExitCodes.ofSignal(killedBy) : (status[0] >> 8) & 0xff);
    }

    private boolean restRuns() {
        return ProcessHandle.allProcesses()
                .mapToInt(process -> (int) process.pid())
                .anyMatch(id -> id != pid && Libc.getpgid(id) == pid && !hasReaped(id));
    }

    /** Reaps the process if it has ended and is, or has become, a child of this process; returns whether that was so. */
    private static boolean hasReaped(int id) {
        return Libc.waitpid(id, new int[1], Libc.NO_HANG) == id;
    }

    /** Returns whether processes of the group were killed after the command itself had ended. */
    boolean killedRest() {
        return killedRest;
    }

    /** Returns the signal that killed the command; zero if it exited, even with an exit code that looks like a signal's. */
    int killedBy() {
        return killedBy;
    }

    /** Returns whether the command has ended or can no longer start, so that there is nothing to kill. */
    synchronized boolean hasEnded() {
        return ended;
    }

    /**
     * Sends TERM to the whole group.
     *
     * @param untilKill the time after which to kill what is left of the group once the command itself has ended
     */
    synchronized void terminate(Duration untilKill) {
        endBy(untilKill);
        signal(TERMINATE);
    }

    private void endBy(Duration untilKill) {
        killAt = System.nanoTime() + untilKill.toNanos();
        mustEnd = true;
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
        endBy(Duration.ZERO);
        return ended || Libc.kill(-pid, KILL) == 0 || Native.getLastError() != NOT_PERMITTED;
    }

    /** Sends a signal to the whole group, or does nothing once the command has ended, as its id may have been reused then. */
    synchronized void signal(int number) {
        if (pid != 0 && !ended) {
            Libc.kill(-pid, number);
        }
    }
}
