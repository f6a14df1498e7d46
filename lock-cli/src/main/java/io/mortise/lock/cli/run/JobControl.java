// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives the command the terminal, and passes stop and continue between it and the shell.
 *
 * <p>The command gets the terminal at once if we read from one and write to one. Otherwise, as in a pipe, it gets it when it
 * asks for it, and what is typed before is handed off to it: the rest of the pipe may need the terminal too.
 */
final class JobControl implements AutoCloseable {
    private static final String STOP = "TSTP";
    private static final String CONTINUE = "CONT";
    private static final String INPUT_STOP = "TTIN";

    /** A stop by signal takes effect within microseconds, so long after it was sent it was refused. */
    private static final long STOPPED_BY_NOW_MILLIS = 200;

    private final CommandProcessGroup command;
    private final BooleanSupplier mayGoOn;
    private final @Nullable ControllingTerminal terminal;
    private final boolean conversation = ControllingTerminal.isConversation();
    private final Semaphore continued = new Semaphore(0);
    private boolean given;
    private boolean hadTerminal;
    private boolean closed;

    private JobControl(CommandProcessGroup command, BooleanSupplier mayGoOn, Optional<ControllingTerminal> terminal) {
        this.command = command;
        this.mayGoOn = mayGoOn;
        this.terminal = terminal.orElse(null);
    }

    /** Before anything is started: from then on the terminal can be taken back while the command has it. */
    static void prepare() {
        SignalHandlers.ignore(ControllingTerminal.OUTPUT_STOP);
    }

    /**
     * Before the command is started.
     *
     * @param mayGoOn asked before the command goes on after it was stopped; it was stopped with us, and the lock may be lost
     */
    static JobControl of(CommandProcessGroup command, BooleanSupplier mayGoOn) {
        JobControl control = new JobControl(command, mayGoOn, ControllingTerminal.open());
        SignalHandlers.handle(CONTINUE, number -> {
            control.continued.release();
            control.goOn();
        });
        control.forwardStop();
        return control;
    }

    /** If it asked for the terminal before this it was stopped, and {@link #stopped} lets it go on. */
    void started() {
        if (terminal != null && conversation) {
            hand(terminal);
        }
    }

    private void forwardStop() {
        SignalHandlers.handle(STOP, command::signal);
    }

    /** The command was stopped by that signal. */
    void stopped(int signal) {
        boolean wantsTerminal = signal == SignalHandlers.number(INPUT_STOP)
                || signal == SignalHandlers.number(ControllingTerminal.OUTPUT_STOP);
        if (terminal == null || !(wantsTerminal || signal == SignalHandlers.number(STOP) || isGiven())) {
            return; // by somebody who knows what they do: it stays stopped, and we keep the lock
        }
        if (wantsTerminal && (hand(terminal) || terminal.isGivenTo(command.id()))) {
            command.signal(SignalHandlers.number(CONTINUE));
            return;
        }
        takeBack();
        stopOurJob();
        goOn();
    }

    /** Like a Ctrl-Z without us, it stops all of the job that the shell knows. */
    private void stopOurJob() {
        continued.drainPermits();
        SignalHandlers.handleByDefault(STOP);
        Libc.kill(0, SignalHandlers.number(STOP));
        try {
            // Without a shell that could let us go on, the system does not stop us, and the command may go on at once.
            continued.tryAcquire(STOPPED_BY_NOW_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        forwardStop();
    }

    private void goOn() {
        if (!mayGoOn.getAsBoolean()) {
            return;
        }
        if (terminal != null && conversation) {
            hand(terminal);
        }
        command.signal(SignalHandlers.number(CONTINUE));
    }

    private synchronized boolean hand(ControllingTerminal to) {
        if (closed || command.id() == 0 || !to.isOurs()) {
            return false;
        }
        to.give(command.id());
        given = true;
        hadTerminal = true;
        return true;
    }

    private synchronized void takeBack() {
        if (given && terminal != null) {
            terminal.takeBack();
            given = false;
        }
    }

    /** Then a stop by any signal, such as that of a shell's suspend, must not leave the terminal without somebody. */
    private synchronized boolean isGiven() {
        return given;
    }

    /** The command has ended. */
    @Override
    public synchronized void close() {
        closed = true;
        takeBack();
    }

    /** Whether a Ctrl-C may have reached the command alone. */
    synchronized boolean hadTerminal() {
        return hadTerminal;
    }

    /** Gives our whole job, such as the script that we are in, the Ctrl-C that without us would have reached it as well. */
    static void interruptOurJob() {
        SignalHandlers.handleByDefault(SignalHandlers.INTERRUPT);
        Libc.kill(0, SignalHandlers.number(SignalHandlers.INTERRUPT));
    }
}
