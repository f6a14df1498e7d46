// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.CommonOptions;
import io.mortise.lock.cli.invocation.DurationConverter;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.WaitDurationConverter;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** Arguments of {@code run} and {@code hold}: the lock, how long to wait, and the client. */
final class LockArguments {
    private static final long SAYS_THAT_IT_WAITS_AFTER_MILLIS = 1000;

    /** What is done under the lock. */
    interface Work {
        /**
         * Does it.
         *
         * @return the exit code
         */
        int under(Lease lease) throws InterruptedException;
    }

    @ArgGroup(exclusive = true, multiplicity = "0..1")
    private @Nullable WaitArguments waiting;

    private static final class WaitArguments {
        @Option(
                names = {"-n", "--no-wait"},
                required = true,
                description = "Do not wait: if the lock is busy, exit.")
        private boolean none;

        @Option(
                names = {"-w", "--wait"},
                required = true,
                paramLabel = "DURATION",
                converter = WaitDurationConverter.class,
                description = "Wait so long at most, such as 10s, or 10 as for flock; then exit. Default: without end.")
        private Duration limit = Duration.ZERO;
    }

    @Option(
            names = {"-E", "--busy-exit-code"},
            paramLabel = "CODE",
            defaultValue = "1",
            converter = ExitCodeConverter.class,
            description = "The exit code if the lock is busy, 0 to 255. Default: ${DEFAULT-VALUE}.")
    private int busyCode = ExitCodes.FAILED;

    @Option(
            names = "--lease",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description =
                    "How long the store keeps the lock for a holder that is silent, 1s to 1h; only where that can be set"
                            + " for one lock. Default: the store's.")
    private @Nullable Duration lease;

    /**
     * Acquires the lock, does the work, releases the lock.
     *
     * @param metadata what operators see beside the holder
     * @param waits whether to say so when it waits
     * @return the exit code
     */
    int locked(
            String name,
            Map<String, String> metadata,
            CommonOptions invocation,
            SignalForwarding signals,
            PrintWriter err,
            boolean waits,
            Work work)
            throws InterruptedException {
        try (LeaseShutdown parting = new LeaseShutdown(invocation.connect())) {
            DistributedLock lock = lock(parting.client(), name, metadata);
            if (waitsForItself(lock)) {
                err.println("lockctl: lock \"" + name
                        + "\" is busy: the lockctl run around this one holds it, and waits for" + " this one to end");
                return busyCode;
            }
            signals.interrupt(Thread.currentThread());
            Optional<Lease> granted;
            AtomicBoolean waiting = new AtomicBoolean(waits);
            try {
                CompletableFuture.delayedExecutor(SAYS_THAT_IT_WAITS_AFTER_MILLIS, TimeUnit.MILLISECONDS)
                        .execute(() -> {
                            if (waiting.get()) {
                                err.println("lockctl: waiting for lock \"" + name + "\"");
                            }
                        });
                granted = acquire(lock);
            } catch (InterruptedException e) {
                // Withdrawn already. Without a signal it is somebody else's interrupt.
                return ExitCodes.ofSignal(signals.first().orElseThrow(() -> e));
            } finally {
                waiting.set(false);
            }
            signals.keep();
            if (granted.isEmpty()) {
                return busyCode;
            }
            return released(granted.get(), signals, err, work, parting);
        }
    }

    /** Not asked where nobody would wait. */
    private boolean waitsForItself(DistributedLock lock) throws InterruptedException {
        Optional<EnclosingRun> outer = EnclosingRun.of(System.getenv());
        return (waiting == null || !waiting.none)
                && outer.isPresent()
                && outer.get().holds(lock);
    }

    private static int released(
            Lease lease, SignalForwarding signals, PrintWriter err, Work work, LeaseShutdown parting)
            throws InterruptedException {
        int code;
        try {
            // Granted at the very moment of the signal: the flag would keep us from releasing.
            boolean late = Thread.interrupted() || signals.first().isPresent();
            code = late
                    ? ExitCodes.ofSignal(signals.first().orElseThrow(InterruptedException::new))
                    : work.under(lease);
        } catch (RuntimeException | InterruptedException e) {
            lease.close();
            throw e;
        }
        signals.finish();
        if (code == ExitCodes.LOST) {
            parting.beBrief();
        }
        ReleaseOutcome outcome = parting.release(lease);
        if (outcome == ReleaseOutcome.LOST && code != ExitCodes.LOST) {
            err.println("lockctl: lock \"" + lease.lockName() + "\" was lost before it could be released");
            return ExitCodes.LOST;
        }
        if (outcome == ReleaseOutcome.UNKNOWN
                && code != ExitCodes.LOST) { // a loss has been told, by who waits for nobody
            err.println("lockctl: the store did not answer the release of lock \"" + lease.lockName()
                    + "\": it is free at the latest when its lease ends");
        }
        return code;
    }

    private DistributedLock lock(LockClient client, String name, Map<String, String> metadata) {
        try {
            LockOptions options = LockOptions.defaults().metadata(metadata);
            return client.named(name, lease == null ? options : options.leaseDuration(lease));
        } catch (IllegalArgumentException e) {
            throw new CommandFailedException(ExitCodes.USAGE, String.valueOf(e.getMessage()));
        }
    }

    private Optional<Lease> acquire(DistributedLock lock) throws InterruptedException {
        if (waiting == null) {
            return Optional.of(lock.acquire());
        }
        return waiting.none ? lock.tryAcquire() : lock.tryAcquire(waiting.limit);
    }
}
