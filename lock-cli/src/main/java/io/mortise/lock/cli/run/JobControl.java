// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives the terminal to the command of {@code lockctl run}, and passes stop and continue signals between command and shell.
 *
 * <p>The command gets the terminal at once if standard input and output are terminals. Otherwise, as in a pipe, it gets the
 * terminal when it first tries to use it, together with all input typed before: other processes of the pipe may need the
 * terminal too.
 */
final class JobControl implements AutoCloseable {
    private static final String STOP = "TSTP";
    private static final String CONTINUE = "CONT";
    private static final String INPUT_STOP = "TTIN";

    /** A stop signal takes effect within microseconds: a process that still runs after this time was not stopped. */
    private static final long STOP_TIMEOUT_MILLIS = 200;

    private final CommandProcessGroup command;
    private final BooleanSupplier mayContinue;
    private final @Nullable ControllingTerminal terminal;
    private final boolean interactive = ControllingTerminal.isInteractive();
    private final Semaphore continued = new Semaphore(0);
    private boolean given;
    private boolean hadTerminal;
    private boolean closed;

    private JobControl(
            CommandProcessGroup command, BooleanSupplier mayContinue, Optional<ControllingTerminal> terminal) {
        this.command = command;
        this.mayContinue = mayContinue;
        this.terminal = terminal.orElse(null);
    }

    /** Must be called before any process is started, so that this process can take the terminal back from the command. */
    static void prepare() {
        SignalHandlerInstaller.ignore(ControllingTerminal.OUTPUT_STOP);
    }

    /**
     * Installs the signal handlers; must be called before the command is started.
     *
     * @param mayContinue tells whether a stopped command may continue: if this process was stopped as well, the lock may have
     *     been lost
     */
    static JobControl of(CommandProcessGroup command, BooleanSupplier mayContinue) {
        JobControl control = new JobControl(command, mayContinue, ControllingTerminal.open());
        SignalHandlerInstaller.handle(CONTINUE, number -> {
            control.continued.release();
            control.continueCommand();
        });
        control.forwardStop();
        return control;
    }

    /** Gives the terminal to the started command. If it tried to use the terminal before, {@link #stopped} continues it. */
    void started() {
        if (terminal != null && interactive) {
            giveTo(terminal);
        }
    }

    private void forwardStop() {
        SignalHandlerInstaller.handle(STOP, command::signal);
    }

    /** Reacts to the stop of the command by a signal. */
    void stopped(int signal) {
        boolean wantsTerminal = signal == SignalHandlerInstaller.number(INPUT_STOP)
                || signal == SignalHandlerInstaller.number(ControllingTerminal.OUTPUT_STOP);
        if (terminal == null || !(wantsTerminal || signal == SignalHandlerInstaller.number(STOP) || isGiven())) {
            return; // a user stopped it deliberately: it stays stopped, and lockctl keeps the lock
        }
        if (wantsTerminal && (giveTo(terminal) || terminal.isForeground(command.id()))) {
            command.signal(SignalHandlerInstaller.number(CONTINUE));
            return;
        }
        takeBack();
        stopOurJob();
        continueCommand();
    }

    /** Stops the whole job that the shell knows, as Ctrl-Z would do without lockctl. */
    private void stopOurJob() {
        continued.drainPermits();
        SignalHandlerInstaller.handleByDefault(STOP);
        Libc.kill(0, SignalHandlerInstaller.number(STOP));
        try {
            // If there is no shell that could continue this process, the system does not stop it; then the command
            // continues.
            continued.tryAcquire(STOP_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        forwardStop();
    }

    private void continueCommand() {
        if (!mayContinue.getAsBoolean()) {
            return;
        }
        if (terminal != null && interactive) {
            giveTo(terminal);
        }
        command.signal(SignalHandlerInstaller.number(CONTINUE));
    }

    private synchronized boolean giveTo(ControllingTerminal to) {
        if (closed || command.id() == 0 || !to.isForeground()) {
            return false;
        }
        to.setForeground(command.id());
        given = true;
        hadTerminal = true;
        return true;
    }

    private synchronized void takeBack() {
        if (given && terminal != null) {
            terminal.resetForeground();
            given = false;
        }
    }

    /**
     * Returns whether the command has the terminal. If so, any signal that stops the command, such as by a shell's
     * {@code suspend}, must return the terminal, as otherwise no running process would have it.
     */
    private synchronized boolean isGiven() {
        return given;
    }

    /** Takes the terminal back after the command has ended. */
    @Override
    public synchronized void close() {
        closed = true;
        takeBack();
    }

    /** Returns whether a Ctrl-C may have reached only the command. */
    synchronized boolean hadTerminal() {
        return hadTerminal;
    }

    /** Sends INT to our whole job, such as an enclosing script, which Ctrl-C would have reached without lockctl. */
    static void interruptOurJob() {
        SignalHandlerInstaller.handleByDefault(SignalHandlerInstaller.INTERRUPT);
        Libc.kill(0, SignalHandlerInstaller.number(SignalHandlerInstaller.INTERRUPT));
    }
}
