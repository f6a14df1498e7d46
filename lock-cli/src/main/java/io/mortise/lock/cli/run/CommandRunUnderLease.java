// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.cli.invocation.CommandLineBytes;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Runs one command under a lease, and ends the command if the lease is lost. */
final class CommandRunUnderLease {
    /** The time limit for a watchdog that only has to detect the end of lockctl. */
    private static final Duration UNLIMITED = Duration.ofDays(10_000);

    private final List<byte[]> command;
    private final LossPolicy onLoss;
    private final boolean keepUrl;
    private final Consumer<String> messages;
    private boolean hadTerminal;
    private boolean interrupted;

    private CommandRunUnderLease(List<byte[]> command, LossPolicy onLoss, boolean keepUrl, Consumer<String> messages) {
        this.command = command;
        this.onLoss = onLoss;
        this.keepUrl = keepUrl;
        this.messages = messages;
    }

    /**
     * Prepares the run before the lock is acquired, so that a run that cannot work fails without the lock.
     *
     * @param keepUrl whether the command may see the store's URL
     * @param messages receives messages for the user
     * @throws LinkageError if native code cannot be loaded
     */
    static CommandRunUnderLease prepare(
            List<String> command, LossPolicy onLoss, boolean keepUrl, Consumer<String> messages) {
        ControllingTerminal.isErrorTerminal();
        JobControl.prepare();
        return new CommandRunUnderLease(CommandLineBytes.ofLast(command), onLoss, keepUrl, messages);
    }

    /** Returns whether to print a message while the lock is awaited. */
    boolean reportsWaiting() {
        return ControllingTerminal.isErrorTerminal();
    }

    /** Runs the command until it ends. */
    WorkResult under(Lease lease, CurrentStepSignals signals) {
        if (!lease.isHeld()) { // this process may have been stopped after the grant
            messages.accept(
                    "lock \"" + LockName.shown(lease.lockName()) + "\" was lost before the command was started");
            return WorkResult.LOST;
        }
        CommandProcessGroup group =
                new CommandProcessGroup(command, EnvironmentBytes.with(ChildEnvironment.of(lease, keepUrl)));
        Optional<Watchdog> watchdog = needsWatchdog() ? Optional.of(Watchdog.start(lease.ownerId())) : Optional.empty();
        try {
            return runGuarded(group, lease, watchdog, signals);
        } finally {
            watchdog.ifPresent(dog -> dog.close(group.hasEnded()));
        }
    }

    /** Also needed under another run, which kills this process when it loses its lock: the command must not outlive that. */
    private boolean needsWatchdog() {
        return onLoss == LossPolicy.KILL || EnclosingRun.of(System.getenv()).isPresent();
    }

    /** Sets up the lease monitor and job control before the command executes its first instruction. */
    private WorkResult runGuarded(
            CommandProcessGroup group, Lease lease, Optional<Watchdog> watchdog, CurrentStepSignals signals) {
        boolean kills = onLoss == LossPolicy.KILL;
        if (!kills) {
            watchdog.ifPresent(dog -> dog.killAfter(UNLIMITED));
        }
        try (LeaseMonitor monitor = LeaseMonitor.start(lease, group, kills ? watchdog : Optional.empty(), messages);
                JobControl control = JobControl.of(group, () -> mayContinue(lease, group))) {
            boolean started = group.start(id -> {
                watchdog.ifPresent(dog -> dog.watch(id));
                control.started();
            });
            signals.forwardTo(group::signal); // includes a signal that arrived before
            int code = started ? group.await(control::stopped) : ExitCodes.LOST;
            signals.keep();
            hadTerminal = control.hadTerminal();
            interrupted = group.killedBy() == SignalHandlerInstaller.number(SignalHandlerInstaller.INTERRUPT);
            return monitor.result(code);
        }
    }

    /** Kills a stopped command that has lost its lock, so that it does not continue even for a moment. */
    private boolean mayContinue(Lease lease, CommandProcessGroup group) {
        if (onLoss == LossPolicy.KILL && !lease.isHeld()) {
            group.kill();
            return false;
        }
        return true;
    }

    /** Returns whether a Ctrl-C ended the command but did not reach this process. */
    boolean interruptedByTerminal(int code, CurrentStepSignals signals) {
        return interrupted && hadTerminal && signals.first().isEmpty() && CurrentStepSignals.isInterrupt(code);
    }
}
