// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** One command under one lease: starts it, watches it, returns its exit code. */
final class GuardedRun {
    /** What a watchdog is told that only has to see whether we live. */
    private static final Duration FOR_EVER = Duration.ofDays(10_000);

    private final List<byte[]> command;
    private final LossPolicy onLoss;
    private final boolean keepUrl;
    private final Consumer<String> say;
    private boolean hadTerminal;
    private boolean interrupted;

    private GuardedRun(List<byte[]> command, LossPolicy onLoss, boolean keepUrl, Consumer<String> say) {
        this.command = command;
        this.onLoss = onLoss;
        this.keepUrl = keepUrl;
        this.say = say;
    }

    /**
     * Before the lock is asked for: what cannot work is to fail without it.
     *
     * @param keepUrl whether the command may see the store's URL
     * @param say gets a line for the user
     * @throws LinkageError if native code cannot be loaded
     */
    static GuardedRun prepare(List<String> command, LossPolicy onLoss, boolean keepUrl, Consumer<String> say) {
        ControllingTerminal.isErrorOutput();
        JobControl.prepare();
        return new GuardedRun(ArgumentBytes.lastArguments(command), onLoss, keepUrl, say);
    }

    boolean saysThatItWaits() {
        return ControllingTerminal.isErrorOutput();
    }

    /** Runs it to its end; returns the exit code. */
    int under(Lease lease, SignalForwarding signals) {
        if (!lease.isHeld()) { // we may have been stopped while the grant came
            say.accept("lock \"" + lease.lockName() + "\" was lost before the command was started");
            return ExitCodes.LOST;
        }
        CommandProcessGroup group =
                new CommandProcessGroup(command, ArgumentBytes.environment(ChildEnvironment.of(lease, keepUrl)));
        Optional<Watchdog> watchdog = watched() ? Optional.of(Watchdog.start(lease.ownerId())) : Optional.empty();
        try {
            return guarded(group, lease, watchdog, signals);
        } finally {
            watchdog.ifPresent(dog -> dog.close(group.hasEnded()));
        }
    }

    /** Also below another run, which kills us when it loses its lock: what we have started must not outlive that. */
    private boolean watched() {
        return onLoss == LossPolicy.KILL || EnclosingRun.of(System.getenv()).isPresent();
    }

    /** All that reacts to something is in place before the command runs its first instruction. */
    private int guarded(CommandProcessGroup group, Lease lease, Optional<Watchdog> watchdog, SignalForwarding signals) {
        boolean kills = onLoss == LossPolicy.KILL;
        if (!kills) {
            watchdog.ifPresent(dog -> dog.waitFor(FOR_EVER));
        }
        try (LeaseMonitor watch = LeaseMonitor.start(lease, group, kills ? watchdog : Optional.empty(), say);
                JobControl control = JobControl.of(group, () -> mayGoOn(lease, group))) {
            boolean started = group.start(id -> {
                watchdog.ifPresent(dog -> dog.watch(id));
                control.started();
            });
            signals.forwardTo(group::signal); // also what came meanwhile
            int code = started ? group.await(control::stopped) : ExitCodes.LOST;
            signals.keep();
            hadTerminal = control.hadTerminal();
            interrupted = group.killedBy() == SignalHandlers.number(SignalHandlers.INTERRUPT);
            return watch.verdict(code);
        }
    }

    /** A stopped command that has lost its lock must not run for a moment. */
    private boolean mayGoOn(Lease lease, CommandProcessGroup group) {
        if (onLoss == LossPolicy.KILL && !lease.isHeld()) {
            group.kill();
            return false;
        }
        return true;
    }

    /** Whether a Ctrl-C has ended the command, and not reached us. */
    boolean interruptedByTerminal(int code, SignalForwarding signals) {
        return interrupted && hadTerminal && signals.first().isEmpty() && SignalForwarding.isInterrupt(code);
    }
}
