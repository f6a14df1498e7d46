// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Monitors the lease of {@code lockctl run}, and ends the child command before the lease expires if it cannot be renewed. */
final class LeaseMonitor implements AutoCloseable {
    private static final Duration MAX_PAUSE = Duration.ofMillis(500);
    private static final int CHECKS_PER_LEASE = 10;
    private static final Duration REASON_TIMEOUT = Duration.ofMillis(500);
    private static final Duration CLOCK_STEP = Duration.ofMillis(20);

    private final Lease lease;
    private final CommandProcessGroup command;
    private final @Nullable Watchdog watchdog;
    private final Consumer<String> messages;
    private final Semaphore wake = new Semaphore(0);
    private final CompletableFuture<@Nullable Void> stopped = new CompletableFuture<>();

    private Duration longestRemaining = Duration.ZERO;
    private long watchdogDeadline = System.nanoTime(); // when the watchdog kills the command
    private boolean terminated;
    private boolean watchdogFailed;
    private volatile boolean intervened;
    private volatile boolean lossReported;
    private volatile boolean closed;

    /** @param watchdog empty if the command must not be ended, even if the lease is lost */
    private LeaseMonitor(
            Lease lease, CommandProcessGroup command, Optional<Watchdog> watchdog, Consumer<String> messages) {
        this.lease = lease;
        this.command = command;
        this.watchdog = watchdog.orElse(null);
        this.messages = messages;
    }

    static LeaseMonitor start(
            Lease lease, CommandProcessGroup command, Optional<Watchdog> watchdog, Consumer<String> messages) {
        LeaseMonitor monitor = new LeaseMonitor(lease, command, watchdog, messages);
        boolean continues = !monitor.check().isZero(); // sends the watchdog its first deadline
        if (continues) {
            lease.lost().thenRun(monitor.wake::release);
            Thread thread = new Thread(monitor::run, "lockctl-lease");
            thread.setDaemon(true);
            thread.start();
        } else {
            monitor.stopped.complete(null);
        }
        return monitor;
    }

    /**
     * Closes this monitor after the command has ended, and returns the result of lockctl: {@link WorkResult#LOST} if the
     * lock was lost or the command was terminated because the lease was about to expire, otherwise the command's own code.
     *
     * @param code the exit code of the command
     */
    WorkResult result(int code) {
        close();
        if (!lossReported) {
            Duration remaining = lease.remaining();
            boolean byWatchdog = watchdog != null
                    && code == ExitCodes.ofSignal(CommandProcessGroup.KILL)
                    && remaining.compareTo(KillSchedule.of(longestRemaining).killAt()) <= 0;
            if (byWatchdog) {
                reportLoss("was killed"); // by the watchdog, before this monitor noticed the loss
            } else if (remaining.isZero() && !intervened) {
                reportLoss("has ended by itself since");
            } else if (command.killedRest()) {
                messages.accept("processes of the command that ran on were killed");
            }
        }
        return intervened ? WorkResult.LOST : WorkResult.of(code);
    }

    private void run() {
        try {
            while (!closed) {
                Duration pause = check();
                if (pause.isZero()) {
                    return;
                }
                wake.tryAcquire(pause.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            stopped.complete(null);
        }
    }

    /** Performs the actions that are due; returns the time until the next check, or zero if none is needed. */
    private Duration check() {
        Duration remaining = lease.remaining();
        if (watchdog == null) {
            return remaining.isZero() ? reportLoss("continues without it") : MAX_PAUSE;
        }
        longestRemaining = Durations.longer(remaining, longestRemaining);
        KillSchedule schedule = KillSchedule.of(longestRemaining);
        Duration untilKill = remaining.minus(schedule.killAt());
        if (untilKill.isNegative() || untilKill.isZero()) {
            return reportLoss(command.kill() ? "was killed" : "runs as another user and cannot be killed");
        }
        updateWatchdog(watchdog, untilKill);
        Duration untilTerminate = remaining.minus(schedule.terminateAt());
        if (untilTerminate.isNegative() || untilTerminate.isZero()) {
            terminate(remaining, untilKill);
            return Durations.shorter(untilKill, longestRemaining.dividedBy(CHECKS_PER_LEASE));
        }
        terminated = false;
        return Durations.shorter(
                Durations.shorter(untilTerminate, longestRemaining.dividedBy(CHECKS_PER_LEASE)), MAX_PAUSE);
    }

    private Duration reportLoss(String whatHappens) {
        intervened = true;
        lossReported = true;
        String state = lease.isHeld() ? "is about to expire" : "was lost" + reason();
        messages.accept("lock \"" + LockName.shown(lease.lockName()) + "\" " + state + "; the command " + whatHappens);
        return Duration.ZERO;
    }

    /** Waits briefly for the reason of the loss: the lease expires by the clock before its callback reports why. */
    private String reason() {
        try {
            LossReason reason = lease.lost().get(REASON_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            return ": " + reason;
        } catch (ExecutionException | TimeoutException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private void terminate(Duration remaining, Duration untilKill) {
        if (!terminated) {
            terminated = true;
            intervened = true;
            command.terminate(untilKill);
            messages.accept("lock \"" + LockName.shown(lease.lockName()) + "\" expires in " + remaining.toMillis()
                    + " ms and cannot be renewed: the command is being terminated");
        }
    }

    /** Sends the watchdog a new deadline, but only if the lease was renewed: each deadline costs the watchdog a process. */
    private void updateWatchdog(Watchdog target, Duration untilKill) {
        if (watchdogFailed) {
            return;
        }
        long until = System.nanoTime() + untilKill.toNanos();
        try {
            if (!target.isRunning()) {
                target.restart();
                watchdogDeadline = System.nanoTime();
                messages.accept("the watchdog was killed; another one was started");
            }
            if (until - watchdogDeadline > CLOCK_STEP.toNanos()) {
                watchdogDeadline = until;
                target.killAfter(untilKill);
            }
        } catch (CommandFailedException e) {
            watchdogFailed = true;
            messages.accept(e.getMessage() + ": the command will not be ended if lockctl is killed or stopped");
        }
    }

    /** Stops monitoring; after this, no message is printed and no signal is sent. */
    @Override
    public void close() {
        closed = true;
        wake.release();
        stopped.join(); // not interruptible, as the caller must not continue before the monitor has stopped
    }
}
