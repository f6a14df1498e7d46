// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * Acquires, renews and releases leases in a store that supports compare-and-set.
 *
 * <p>This is the simple SPI for backends; {@link LeaseStoreBackend} adapts an implementation to the full SPI. Implementations
 * must be thread-safe, and no method may block except {@link #close()}; {@link BackendContext#callBlocking} runs the calls of a
 * blocking driver. The code that creates an instance must connect to the store first, so that no client is opened for a store
 * that does not respond (S15).
 *
 * <p>A grant <em>ends</em> when its lease duration has passed by the store's clock since the request that created it or last
 * extended it. An ended grant that is still stored is treated as if it were not there: it is taken over, not extended and not
 * reported. A store without a clock of its own ({@link #hasClock()}) measures the time since it saw a grant change; see
 * {@link ObservedExpiryDetector}.
 *
 * <p>The failure of a stage belongs to one of three categories, and the application sees which one:
 *
 * <ul>
 *   <li>{@link io.mortise.lock.BackendRefusedException}, or a failure for which {@link #isRefusal} returns true: the store
 *       did not execute the request, and would reject it again, for example because a table is missing. The caller fails at
 *       once.
 *   <li>{@link io.mortise.lock.BackendUnavailableException}: there was no reply. The request may have been executed, and may
 *       still be. It is repeated within the limits of S15.
 *   <li>Any other failure is treated in the same way, since it may be temporary, as a deadlock is. The message says that the
 *       requests failed, and names the last failure.
 * </ul>
 *
 * <p>The core gives each stage a deadline of one request timeout, and withdraws the grant that a request of the last two
 * categories may have created (S8).
 */
public interface LeaseStore extends AutoCloseable {
    /**
     * Grants the lock if it is free, or if the holder's grant has ended. Idempotent: a retry with the same attempt id returns
     * the same token until the grant has ended.
     *
     * @param ownerRecord the text to store with the grant, verbatim; starts with the attempt id
     * @param lease the lease duration
     */
    CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease);

    /**
     * Extends each grant that the store still has, so that it ends {@code lease} from now. Never creates a grant again (S6).
     *
     * <p>A grant that has ended must not be extended, even if no other attempt has taken the lock: the holder has reported its
     * loss already, and an extension would only keep the lock from others. A store that measures the time by
     * {@link ObservedExpiryDetector} cannot know that a grant has ended, and extends it until another
     * attempt has taken the lock.
     *
     * <p>A delayed release ({@link io.mortise.lock.Lease#releaseAfter}) is the last renewal of its grant, with another duration.
     *
     * <p>A failure counts for all grants of the call. They are renewed in calls of their own then, as they are while a call has no reply
     * yet, so that one that cannot be renewed costs no other lease. If more than 100 have failed, as in an outage, at most 100 calls have equal
     * parts of them.
     *
     * @param grants 1 to 100 grants
     * @param lease from when the request is executed; for a delayed release 1 ms to 1 h, longer or shorter than the lease so far,
     *     and rounded up by {@link #leaseDuration} unless that rejects it as too short for a lease. Then this method rounds it up to
     *     what the store can do: rounded down, it may become 0, which means for ever to many stores
     * @return a stage with those of the grants that the store no longer has, including the ended ones; a reply with any other grant
     *     counts as a failure
     */
    CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease);

    /**
     * Removes this grant, and never that of another attempt (S5). An ended grant may be deleted too, but counts as missing:
     * with true, the application is told that its lease was valid until the release.
     *
     * <p>The request must be sent once. If the store's client repeats it by itself after a lost reply, the repetition finds nothing
     * and returns false, and the application is told that its lease was lost. The core repeats it, and knows that it does.
     *
     * @return a stage with whether the store still had the grant, and the grant had not ended
     */
    CompletionStage<Boolean> release(Grant grant);

    /**
     * Returns the lease duration that the store uses for a lock. An implementation overrides it to have another default, to
     * round up to what the store supports, or to limit the duration: by an exception, not by a shorter duration.
     * {@link LeaseStoreBackend} rejects a result that is shorter than requested, or longer than 1 h. Default: the requested duration,
     * or {@link LeaseStoreBackend#DEFAULT_LEASE}.
     *
     * @param requested the duration from the lock's options, 1 s to 1 h, or the delay of a delayed release, 1 ms to 1 h; empty for
     *     the default
     * @throws IllegalArgumentException if the store does not support the requested duration; the message names the limit (S14)
     */
    default Duration leaseDuration(Optional<Duration> requested) {
        return requested.orElse(LeaseStoreBackend.DEFAULT_LEASE);
    }

    /**
     * Returns whether grants end by a clock of the store, also while no client reads them. A store that uses an
     * {@link ObservedExpiryDetector} returns false: the time then counts from somebody's first read, so the store cannot offer
     * {@link io.mortise.lock.Capability#DELAYED_RELEASE}. Default: true.
     */
    default boolean hasClock() {
        return true;
    }

    /**
     * Returns whether the failure of a stage is a reply by which the store rejects the request, and would reject it again: a
     * missing table, a missing permission, an invalid statement. The request then fails at once with a
     * {@link io.mortise.lock.BackendRefusedException} that names the failure. An exception of this method counts as false, and is
     * added to the failure as suppressed. Default: false.
     *
     * @param failure the failure as the store's client reported it
     */
    default boolean isRefusal(Throwable failure) {
        return false;
    }

    /** Returns the endpoints of the store; see {@link LockBackend#endpoints()}. Does no I/O; never throws. */
    String endpoints();

    /** Returns the kind of store; see {@link LockBackend#kind()}. Default: {@code custom}. */
    default String kind() {
        return "custom";
    }

    /**
     * Closes the store's client, within about one second. After 1.5 s the closing client waits no longer, and interrupts the call.
     * What is not closed then stays open until the store or the end of the process closes it; a call that ignores the interrupt keeps
     * one daemon thread. So give the close of a driver that may hang a limit of its own. Never throws.
     */
    @Override
    void close();

    /** The identity of one grant: the name of the lock, and the id of the attempt that acquired it. */
    record Grant(LockName name, String attemptId) {}

    /** The store's reply to {@link #tryAcquire}. */
    sealed interface Answer {
        /** The lock is granted, with a token greater than that of every earlier grant of this name. Rule S3. */
        record Token(long token) implements Answer {}

        /** Another attempt, with the given owner record, holds the lock. */
        record HeldBy(String ownerRecord) implements Answer {}
    }
}
