// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
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

/** Watches the lease while the command runs, and ends the command in time when it is lost. */
final class LeaseMonitor implements AutoCloseable {
    private static final Duration SELDOM = Duration.ofMillis(500);
    private static final int LOOKS_PER_LEASE = 10;
    private static final Duration REASON_COMES_WITHIN = Duration.ofMillis(500);
    private static final Duration CLOCK_STEP = Duration.ofMillis(20);

    private final Lease lease;
    private final CommandProcessGroup command;
    private final @Nullable Watchdog watchdog;
    private final Consumer<String> say;
    private final Semaphore wake = new Semaphore(0);
    private final CompletableFuture<@Nullable Void> stopped = new CompletableFuture<>();

    private Duration longest = Duration.ZERO;
    private long promised = System.nanoTime(); // when the watchdog is to kill
    private boolean asked;
    private boolean watchdogGone;
    private volatile boolean intervened;
    private volatile boolean lossTold;
    private volatile boolean over;

    /** @param watchdog empty: the command is not touched, whatever happens */
    private LeaseMonitor(Lease lease, CommandProcessGroup command, Optional<Watchdog> watchdog, Consumer<String> say) {
        this.lease = lease;
        this.command = command;
        this.watchdog = watchdog.orElse(null);
        this.say = say;
    }

    static LeaseMonitor start(
            Lease lease, CommandProcessGroup command, Optional<Watchdog> watchdog, Consumer<String> say) {
        LeaseMonitor watch = new LeaseMonitor(lease, command, watchdog, say);
        boolean lasts = !watch.check().isZero(); // the watchdog has its first term before this returns
        if (lasts) {
            lease.lost().thenRun(watch.wake::release);
            Thread thread = new Thread(watch::watch, "lockctl-lease");
            thread.setDaemon(true);
            thread.start();
        } else {
            watch.stopped.complete(null);
        }
        return watch;
    }

    /**
     * The command has ended with that code: what we are to end with, {@link ExitCodes#LOST} if the lock was lost or the command
     * was told to end because it might be. Nothing is said or done any more after that.
     */
    int verdict(int code) {
        close();
        if (!lossTold) {
            Duration left = lease.remaining();
            boolean byWatchdog = watchdog != null
                    && code == ExitCodes.ofSignal(CommandProcessGroup.KILL)
                    && left.compareTo(KillSchedule.of(longest).killAt()) <= 0;
            if (byWatchdog) {
                lost("was killed"); // before we came to it
            } else if (left.isZero() && !intervened) {
                lost("has ended since, by itself");
            }
        }
        return intervened ? ExitCodes.LOST : code;
    }

    private void watch() {
        try {
            while (!over) {
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

    /** Does what is due; returns how long nothing will be, zero if nothing ever will. */
    private Duration check() {
        Duration left = lease.remaining();
        if (watchdog == null) {
            return left.isZero() ? lost("goes on without it") : SELDOM;
        }
        longest = Durations.longer(left, longest);
        KillSchedule countdown = KillSchedule.of(longest);
        Duration untilKill = left.minus(countdown.killAt());
        if (untilKill.isNegative() || untilKill.isZero()) {
            return lost(command.kill() ? "was killed" : "runs as another user and cannot be killed");
        }
        promise(watchdog, untilKill);
        Duration untilAsked = left.minus(countdown.terminateAt());
        if (untilAsked.isNegative() || untilAsked.isZero()) {
            ask(left);
            return Durations.shorter(untilKill, longest.dividedBy(LOOKS_PER_LEASE));
        }
        asked = false;
        return Durations.shorter(Durations.shorter(untilAsked, longest.dividedBy(LOOKS_PER_LEASE)), SELDOM);
    }

    private Duration lost(String whatHappens) {
        intervened = true;
        lossTold = true;
        String state = lease.isHeld() ? "is about to expire" : "was lost" + reason();
        say.accept("lock \"" + lease.lockName() + "\" " + state + "; the command " + whatHappens);
        return Duration.ZERO;
    }

    /** The clock tells of a loss before the callback tells why. */
    private String reason() {
        try {
            LossReason reason = lease.lost().get(REASON_COMES_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
            return ": " + reason;
        } catch (ExecutionException | TimeoutException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private void ask(Duration left) {
        if (!asked) {
            asked = true;
            intervened = true;
            command.terminate();
            say.accept("lock \"" + lease.lockName() + "\" expires in " + left.toMillis()
                    + " ms and cannot be renewed: the command is told to end");
        }
    }

    /** Only when the lease has been renewed: each promise costs the watchdog a process. */
    private void promise(Watchdog to, Duration untilKill) {
        if (watchdogGone) {
            return;
        }
        long until = System.nanoTime() + untilKill.toNanos();
        try {
            if (!to.runs()) {
                to.startAnother();
                promised = System.nanoTime();
                say.accept("the watchdog was killed; another one is started");
            }
            if (until - promised > CLOCK_STEP.toNanos()) {
                promised = until;
                to.waitFor(untilKill);
            }
        } catch (CommandFailedException e) {
            watchdogGone = true;
            say.accept(e.getMessage() + ": nothing ends the command if lockctl is killed or stopped");
        }
    }

    /** Nothing is said or done any more. */
    @Override
    public void close() {
        over = true;
        wake.release();
        stopped.join(); // whoever waits here may be interrupted, and must not go on before
    }
}
