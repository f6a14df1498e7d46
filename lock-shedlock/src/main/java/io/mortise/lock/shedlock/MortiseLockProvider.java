// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.shedlock;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * A ShedLock lock provider that uses the locks of a {@link LockClient}.
 *
 * <p>The name of a job is the name of its lock. The client renews the lease while the job runs, so that the lock of a crashed
 * process is free after the lease duration and not after {@code lockAtMostFor}. When {@code lockAtMostFor} has passed, the lock is
 * released though the job still runs. {@code lockAtLeastFor} is kept by {@link io.mortise.lock.Lease#releaseAfter}; a rest of up
 * to a second is waited for in {@code unlock}. Thread-safe. Does not close the client.
 */
public final class MortiseLockProvider implements ExtensibleLockProvider {
    private static final Duration LONGEST_AT_LEAST = Duration.ofHours(1);

    private final LockClient client;
    private final LockOptions options;

    /** Creates a provider whose locks have the default options: the lease duration of the backend, no metadata. */
    public MortiseLockProvider(LockClient client) {
        this(client, LockOptions.defaults());
    }

    /**
     * Creates a provider whose locks have these options.
     *
     * @param options the lease duration and metadata of all locks
     * @throws IllegalArgumentException if the options contain a maximum hold, which ShedLock sets for each job, or do not suit the
     *     backend
     */
    public MortiseLockProvider(LockClient client, LockOptions options) {
        this.client = Objects.requireNonNull(client, "client");
        this.options = Objects.requireNonNull(options, "options");
        options.maxHold().ifPresent(hold -> {
            throw new IllegalArgumentException(
                    "maxHold is " + hold + ", but each job has its lockAtMostFor: leave it out");
        });
        client.named("options of a lock provider", options); // rejects what the backend does not support, without I/O
    }

    /**
     * Acquires the lock of a job if it is free. Makes one attempt.
     *
     * @return the lock; empty if another process holds it, or keeps it for its {@code lockAtLeastFor}; or if it was granted so late
     *     that {@code lockAtMostFor} has passed or the lease has ended
     * @throws IllegalArgumentException if {@code lockAtLeastFor} is longer than 1 hour, or longer than 1 second on a backend without
     *     {@link Capability#DELAYED_RELEASE}; or if the name is invalid (S13)
     * @throws io.mortise.lock.BackendUnavailableException if the store does not respond (S15)
     * @throws LockException if the thread is interrupted
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        checkAtLeast(configuration);
        long start = System.nanoTime(); // before the request: the job may not be locked longer than it says
        try {
            return client.named(configuration.getName(), options)
                    .tryAcquire()
                    .flatMap(lease -> granted(configuration, lease, start));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockException(
                    "interrupted while lock \"" + LockName.shown(configuration.getName()) + "\" was requested", e);
        }
    }

    /** Releases the lease if there is no memory or thread for a timer: nobody else would, and the client renews it. */
    private Optional<SimpleLock> granted(LockConfiguration configuration, Lease lease, long start) {
        try {
            if (MortiseLock.left(configuration.getLockAtMostFor(), start).isNegative() || !lease.isHeld()) {
                lease.release(); // a slow reply or a pause: the job would run without its lock
                return Optional.empty();
            }
            return Optional.of(
                    new MortiseLock(this, configuration, lease, start, CompletableFuture.completedFuture(null)));
        } catch (Throwable e) {
            lease.releaseAsync();
            throw e;
        }
    }

    boolean canDelayRelease() {
        return client.capabilities().contains(Capability.DELAYED_RELEASE);
    }

    /** Rejects a duration for which the store could not keep the lock. */
    void checkAtLeast(LockConfiguration configuration) {
        Duration atLeast = configuration.getLockAtLeastFor();
        Duration limit = canDelayRelease() ? LONGEST_AT_LEAST : MortiseLock.LONGEST_WAIT;
        if (atLeast.compareTo(limit) > 0) {
            throw new IllegalArgumentException(
                    "lockAtLeastFor of \"" + LockName.shown(configuration.getName()) + "\" is " + atLeast
                            + ", must be at most " + limit
                            + (canDelayRelease()
                                    ? ""
                                    : ": this backend cannot keep a lock without its holder, it does not offer DELAYED_RELEASE"));
        }
    }

    @Override
    public String toString() {
        return "MortiseLockProvider[" + client + "]";
    }
}
