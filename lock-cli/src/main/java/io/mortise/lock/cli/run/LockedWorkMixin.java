// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.CommonOptionValues;
import io.mortise.lock.cli.invocation.DurationConverter;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.FlockDurationConverter;
import io.mortise.lock.cli.view.HolderFormat;
import io.mortise.lock.spi.LockName;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The command-line arguments that {@code lockctl run} and {@code hold} share. Acquires and releases the lock accordingly. */
final class LockedWorkMixin {
    private static final long REPORT_WAITING_AFTER_MILLIS = 1000;
    private static final long HOLDER_QUERY_MILLIS = 2000;

    /** The work to do while the lock is held. */
    interface Work {
        /** Does the work under the given lease. */
        WorkResult under(Lease lease) throws InterruptedException;
    }

    @ArgGroup(exclusive = true, multiplicity = "0..1")
    private @Nullable WaitArguments waiting;

    private static final class WaitArguments {
        @Option(
                names = {"-n", "--no-wait"},
                required = true,
                description = "Do not wait: exit if the lock is busy.")
        private boolean none;

        @Option(
                names = {"-w", "--wait"},
                required = true,
                paramLabel = "DURATION",
                converter = FlockDurationConverter.class,
                description =
                        "Wait at most this time, such as 10s (or 10, as for flock), then exit. Default: no limit.")
        private Duration limit = Duration.ZERO;
    }

    @Option(
            names = {"-E", "--busy-exit-code"},
            paramLabel = "CODE",
            defaultValue = "1",
            converter = ExitCodeOptionConverter.class,
            description = "The exit code if the lock is busy, 0 to 255. Default: ${DEFAULT-VALUE}.")
    private int busyCode = ExitCodes.FAILED;

    @Option(
            names = "--lease",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description =
                    "How long the store keeps the lock if its holder does not renew it, 1s to 1h; only for backends with a"
                            + " lease per lock. Default: the lease that the URL or the backend sets.")
    private @Nullable Duration lease;

    /**
     * Acquires the lock, does the work, and releases the lock.
     *
     * @param metadata attributes of the holder that operators see
     * @param reportsWaiting whether to print a message while waiting for the lock
     * @return the exit code
     */
    int runLocked(
            String name,
            Map<String, String> metadata,
            CommonOptionValues invocation,
            CurrentStepSignals signals,
            PrintWriter err,
            boolean reportsWaiting,
            Work work)
            throws InterruptedException {
        LockOptions options = options(metadata);
        try (LeaseShutdown shutdown = new LeaseShutdown(invocation.connect())) {
            DistributedLock lock = lock(shutdown.client(), name, options);
            if (waitsForItself(lock)) {
                err.println("lockctl: lock \"" + LockName.shown(name)
                        + "\" is busy: it is held by the enclosing lockctl run, which waits for this one to end");
                return busyCode;
            }
            signals.interrupt(Thread.currentThread());
            Optional<Lease> granted;
            AtomicBoolean isWaiting = new AtomicBoolean(reportsWaiting);
            try {
                CompletableFuture.delayedExecutor(REPORT_WAITING_AFTER_MILLIS, TimeUnit.MILLISECONDS)
                        .execute(() -> {
                            if (isWaiting.get()) {
                                err.println("lockctl: waiting for lock \"" + LockName.shown(name) + "\"");
                            }
                        });
                granted = acquire(lock);
                isWaiting.set(false);
                if (granted.isEmpty() && waiting != null && !waiting.none) { // -n is silent, as scripts expect
                    err.println("lockctl: " + busyMessage(shutdown.client(), name, waiting.limit));
                }
            } catch (InterruptedException e) {
                // The acquire has been cancelled. Without a signal, the interrupt came from elsewhere.
                return ExitCodes.ofSignal(signals.first().orElseThrow(() -> e));
            } finally {
                isWaiting.set(false);
            }
            signals.keep();
            if (granted.isEmpty()) {
                return busyCode;
            }
            return workAndRelease(granted.get(), signals, err, work, shutdown);
        }
    }

    /** Returns whether this process would wait for the run that has started it; not checked with {@code --no-wait}. */
    private boolean waitsForItself(DistributedLock lock) throws InterruptedException {
        Optional<EnclosingRun> outer = EnclosingRun.of(System.getenv());
        return (waiting == null || !waiting.none)
                && outer.isPresent()
                && outer.get().holds(lock);
    }

    /** Returns a message about who still holds the lock at the end of the wait time. */
    static String busyMessage(LockClient client, String name, Duration limit) throws InterruptedException {
        String time = limit.toString().substring("PT".length()).toLowerCase(Locale.ROOT);
        return "lock \"" + LockName.shown(name) + "\" is still busy after " + time + holders(client, name);
    }

    /** Returns the holders for the end of a sentence; nothing if the store does not tell them soon. */
    private static String holders(LockClient client, String name) throws InterruptedException {
        if (client.admin().isEmpty()) {
            return "";
        }
        try {
            List<LockHolder> holders = client.admin()
                    .get()
                    .status(name)
                    .toCompletableFuture()
                    .get(HOLDER_QUERY_MILLIS, TimeUnit.MILLISECONDS)
                    .holders();
            return holders.isEmpty()
                    ? ""
                    : holders.stream().map(HolderFormat::summary).collect(Collectors.joining("; ", ": held by ", ""));
        } catch (ExecutionException | TimeoutException e) {
            return "";
        }
    }

    private static int workAndRelease(
            Lease lease, CurrentStepSignals signals, PrintWriter err, Work work, LeaseShutdown shutdown)
            throws InterruptedException {
        WorkResult result;
        try {
            // The signal may have arrived with the grant: clear the interrupt, which would prevent the release.
            boolean interrupted = Thread.interrupted() || signals.first().isPresent();
            result = interrupted
                    ? WorkResult.of(ExitCodes.ofSignal(signals.first().orElseThrow(InterruptedException::new)))
                    : work.under(lease);
        } catch (RuntimeException | InterruptedException e) {
            lease.close();
            throw e;
        }
        signals.finish();
        if (result.lost()) {
            shutdown.limitTime();
        }
        ReleaseOutcome outcome = shutdown.release(lease);
        if (outcome == ReleaseOutcome.LOST && !result.lost()) {
            err.println(
                    "lockctl: lock \"" + LockName.shown(lease.lockName()) + "\" was lost before it could be released");
            return ExitCodes.LOST;
        }
        if (outcome == ReleaseOutcome.UNKNOWN && !result.lost()) { // a loss has already been reported
            err.println("lockctl: the store did not confirm the release of lock \"" + LockName.shown(lease.lockName())
                    + "\": it becomes free when its lease expires, if not before");
        }
        return result.code();
    }

    /** Checks the lease duration before lockctl connects. Rule S14. */
    private LockOptions options(Map<String, String> metadata) {
        try {
            LockOptions options = LockOptions.defaults().metadata(metadata);
            return lease == null ? options : options.leaseDuration(lease);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
    }

    /** Checks what only the backend knows: whether it has a lease per lock. */
    private static DistributedLock lock(LockClient client, String name, LockOptions options) {
        try {
            return client.named(name, options);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
    }

    private static CommandFailedException usage(IllegalArgumentException problem) {
        return new CommandFailedException(ExitCodes.USAGE, String.valueOf(problem.getMessage()));
    }

    private Optional<Lease> acquire(DistributedLock lock) throws InterruptedException {
        if (waiting == null) {
            return Optional.of(lock.acquire());
        }
        return waiting.none ? lock.tryAcquire() : lock.tryAcquire(waiting.limit);
    }
}
