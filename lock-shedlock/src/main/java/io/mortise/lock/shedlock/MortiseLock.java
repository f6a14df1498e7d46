// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.shedlock;

import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock of one run of a job, which ends once: by an unlock, by an extension, or when {@code lockAtMostFor} has passed.
 *
 * <p>An extension passes the lease on to a new lock. An extension that fails leaves the lock as it is, so that the unlock at the
 * end of the job does not hide the failure by another. Times count by the monotonic clock from the request for the lock, or from
 * the extension. Thread-safe.
 */
final class MortiseLock implements SimpleLock {
    /** The longest rest of a {@code lockAtLeastFor} that an unlock waits for: the stores' expiry is hardly finer than that. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(MortiseLock.class);

    private final MortiseLockProvider provider;
    private final LockConfiguration configuration;
    private final Lease lease;
    private final long start;
    private final AtomicReference<State> state = new AtomicReference<>(State.LOCKED);
    private final CompletableFuture<Boolean> atMostPassed = new CompletableFuture<>();

    private enum State {
        LOCKED,
        UNLOCKED,
        EXTENDED,
        /** Ended because {@code lockAtMostFor} has passed. */
        ENDED_BY_TIME
    }

    /**
     * @param start the {@link System#nanoTime()} from which the durations count
     * @param begun completes when this lock has the lease; until then its timer does not release the lease
     */
    MortiseLock(
            MortiseLockProvider provider,
            LockConfiguration configuration,
            Lease lease,
            long start,
            CompletableFuture<?> begun) {
        this.provider = provider;
        this.configuration = configuration;
        this.lease = lease;
        this.start = start;
        atMostPassed.runAfterBoth(begun, this::endByTime); // not on the common pool, which hung jobs may fill
        Duration left = left(configuration.getLockAtMostFor());
        atMostPassed.completeOnTimeout(true, TimeUnit.NANOSECONDS.convert(left), TimeUnit.NANOSECONDS);
    }

    private Duration left(Duration since) {
        return left(since, start);
    }

    /** Returns what is left of a duration from that {@link System#nanoTime()}; negative if it has passed. */
    static Duration left(Duration since, long start) {
        return since.minusNanos(System.nanoTime() - start);
    }

    /** Returns whether the lock has ended by {@code lockAtMostFor} or by the loss of its lease. */
    private boolean isOver() {
        return left(configuration.getLockAtMostFor()).isNegative() || !lease.isHeld();
    }

    /** Ends this lock, and its timer. Returns false if its time has ended it before. */
    private boolean end(State by) {
        State known = state.compareAndExchange(State.LOCKED, by);
        if (known == State.UNLOCKED || known == State.EXTENDED) {
            throw new IllegalStateException("lock \"" + LockName.shown(configuration.getName()) + "\" is already "
                    + (known == State.UNLOCKED ? "unlocked" : "extended"));
        }
        atMostPassed.cancel(false);
        return known == State.LOCKED;
    }

    private void endByTime() {
        if (state.compareAndSet(State.LOCKED, State.ENDED_BY_TIME)) {
            lease.releaseAsync();
            log.warn(
                    "event=lock-at-most-passed lock=\"{}\" owner={} lockAtMostFor={} hint=\"the job still runs without its lock\"",
                    LockName.shown(lease.lockName()),
                    lease.ownerId(),
                    configuration.getLockAtMostFor());
        }
    }

    @Override
    public void unlock() {
        if (!end(State.UNLOCKED)) {
            return;
        }
        ReleaseOutcome outcome = release();
        if (outcome != ReleaseOutcome.RELEASED) {
            log.warn(
                    "event=job-lock-not-released lock=\"{}\" owner={} outcome={}",
                    LockName.shown(lease.lockName()),
                    lease.ownerId(),
                    outcome);
        }
    }

    /** An interrupt neither shortens {@code lockAtLeastFor} nor hides the outcome; the interrupt flag is kept. */
    private ReleaseOutcome release() {
        Duration rest = left(configuration.getLockAtLeastFor());
        if (isPositive(rest) && rest.compareTo(LONGEST_WAIT) <= 0 && lease.isHeld()) {
            after(rest).join(); // which an interrupt does not end
            rest = Duration.ZERO;
        }
        boolean interrupted = Thread.interrupted();
        try {
            ReleaseOutcome outcome = isPositive(rest) && lease.isHeld() ? releaseAfter(rest) : lease.release();
            while (outcome == ReleaseOutcome.UNKNOWN && Thread.interrupted()) {
                interrupted = true;
                outcome = lease.release(); // waits for the outcome of the release that continues
            }
            return outcome;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    /** Returns a future that completes after the duration, on the JDK's shared timer. */
    private static CompletableFuture<Boolean> after(Duration duration) {
        return new CompletableFuture<Boolean>().completeOnTimeout(true, duration.toNanos(), TimeUnit.NANOSECONDS);
    }

    private ReleaseOutcome releaseAfter(Duration rest) {
        try {
            return lease.releaseAfter(rest);
        } catch (IllegalArgumentException e) { // a limit of the store, such as Redlock's maxLease
            log.warn(
                    "event=lock-at-least-held-by-client lock=\"{}\" cause=\"{}\"",
                    LockName.shown(lease.lockName()),
                    e.getMessage());
            after(rest).thenRun(lease::releaseAsync);
            return ReleaseOutcome.RELEASED;
        }
    }

    /** Needs no request: the lease is renewed anyway, and the new lock has its own durations. */
    @Override
    public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
        long now = System.nanoTime();
        LockConfiguration extension =
                new LockConfiguration(ClockProvider.now(), configuration.getName(), lockAtMostFor, lockAtLeastFor);
        provider.checkAtLeast(extension);
        if (isOver() && state.get() != State.UNLOCKED && state.get() != State.EXTENDED) {
            return Optional.empty();
        }
        CompletableFuture<Void> begun = new CompletableFuture<>();
        MortiseLock next = new MortiseLock(provider, extension, lease, now, begun); // if that fails, this lock stays
        boolean extended = false;
        try {
            extended = end(State.EXTENDED);
        } finally {
            if (extended) {
                begun.complete(null);
            } else {
                next.atMostPassed.cancel(false);
            }
        }
        return extended ? Optional.of(next) : Optional.empty();
    }
}
