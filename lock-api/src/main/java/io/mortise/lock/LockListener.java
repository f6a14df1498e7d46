// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Callback that follows the acquires and leases of a client, for metrics, traces and logs; see
 * {@link ClientOptions#listener}.
 *
 * <p>A listener only observes: what it throws is logged and changes nothing. Its methods run on the thread where the event
 * happens, which may be the caller's, an I/O thread of the store's client, or the timer thread. They must not block, or renewals
 * and other waiters are late. A listener may serve several clients, and is thread-safe. The methods of one
 * {@link AcquireObserver} and of the {@link LeaseObserver} that it returns are called one at a time, in the order of the events,
 * so observers need no synchronization of their own.
 */
@FunctionalInterface
public interface LockListener {
    /**
     * Notifies that an acquire starts, before its first request. Runs on the thread of the caller. A call that fails before
     * that, because of its arguments or an interrupt, is not reported.
     *
     * @param backend the kind of store, such as {@code redis}; the same text for all locks of a client
     * @param lockName the name of the lock
     * @return the observer of this acquire; null to ignore it
     */
    @Nullable
    AcquireObserver acquireStarted(String backend, String lockName);

    /**
     * Notifies that a candidate of an {@linkplain io.mortise.lock.recipe.Election election} starts its campaign on a lock of the
     * client. Runs on the thread of the election, as do the methods of the observer. The acquires of the candidate are notified as
     * all others are.
     *
     * @param backend as in {@link #acquireStarted}
     * @param lockName the name of the lock
     * @param leading returns whether the candidate leads now, without I/O (S2); also false after the campaign
     * @return the observer of this campaign; null to ignore it, which is the default
     */
    default @Nullable ElectionObserver electionStarted(String backend, String lockName, BooleanSupplier leading) {
        return null;
    }

    /** Callback that follows the campaign of one candidate of an election. */
    interface ElectionObserver {
        /** Notifies that the candidate became the leader, before its body runs. */
        default void elected() {}

        /** Notifies that the campaign has ended. Called once, and last. */
        default void ended() {}
    }

    /**
     * Callback that follows one acquire. Exactly one of {@link #granted}, {@link #busy}, {@link #withdrawn} and {@link #failed}
     * is called, once. That is before the caller has the result, unless the caller ends its future itself, or another thread is
     * notifying of an earlier event of the acquire: it then notifies of this one too.
     */
    interface AcquireObserver {
        /**
         * Notifies that the acquire waits: another owner holds the lock, or earlier acquires of this client wait for it. Called
         * at most once, and not for {@link DistributedLock#tryAcquire()}, which does not wait.
         */
        default void waiting() {}

        /**
         * Notifies that the lock is granted. If the caller of an asynchronous method has given up meanwhile, a release follows.
         *
         * @return the observer of the lease; null to ignore it, which is the default
         */
        default @Nullable LeaseObserver granted(Lease lease) {
            return null;
        }

        /** Notifies that another owner held the lock until the time limit. */
        default void busy() {}

        /** Notifies that the caller gave up: it was interrupted, or it ended its future. */
        default void withdrawn() {}

        /**
         * Notifies that the acquire failed.
         *
         * @param failure the exception that the caller gets
         */
        default void failed(LockException failure) {}
    }

    /** Callback that follows one lease. Exactly one of {@link #lost} and {@link #released} is called, once, and last. */
    interface LeaseObserver {
        /**
         * Notifies that a renewal succeeded. If the lease depends on a session, each renewal of the session is reported for each
         * lease on it.
         *
         * @param slack the time that was left until the deadline when the reply arrived. With a
         *     healthy store more than half of the lease is left: two thirds with a renewal after each third
         * @param leaseDuration the duration of the lease, or of the session, to compare the slack with
         */
        default void renewed(Duration slack, Duration leaseDuration) {}

        /**
         * Notifies of the loss of the lease (S7). A loss that only the release found is one too, with the reason
         * {@link LossReason.Kind#REMOVED}.
         *
         * @param held the time from the grant to the loss, or to the call of the release that found it
         */
        default void lost(LossReason reason, Duration held) {}

        /**
         * Notifies that the release of the lease has an outcome.
         *
         * @param outcome {@link ReleaseOutcome#RELEASED} or {@link ReleaseOutcome#UNKNOWN}
         * @param held the time from the grant to the call of the release
         */
        default void released(ReleaseOutcome outcome, Duration held) {}
    }
}
