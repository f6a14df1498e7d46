// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import org.jspecify.annotations.Nullable;

/** Acquire requests of one contender that may or may not have been executed (S8). Thread-safe. */
final class EtcdInDoubtAcquires {
    @GuardedBy("this")
    private int mayCome;

    /** The latest epoch of those. */
    @GuardedBy("this")
    private long epoch;

    @GuardedBy("this")
    private boolean mayBeThere;

    @GuardedBy("this")
    private boolean ended;

    /** One is about to be sent. False after {@link #end}: it must not be, since nobody would take it back. */
    synchronized boolean sending(long inEpoch) {
        if (!ended) {
            mayCome++;
            epoch = Math.max(epoch, inEpoch);
        }
        return !ended;
    }

    /** No other may be sent. Idempotent. */
    synchronized void end() {
        ended = true;
    }

    /** Refused: it was not executed. With certain errors of etcd's it may have been. In both cases it will not be any more. */
    synchronized void sent(@Nullable Throwable failure) {
        boolean refusedWhenDone = EtcdErrors.isRefusedWhenDone(failure);
        mayBeThere |= refusedWhenDone;
        if (refusedWhenDone || !(failure instanceof BackendUnavailableException)) {
            mayCome--;
        }
    }

    /** One may yet be executed: a new epoch must defeat it. */
    synchronized boolean mayCome() {
        return mayCome > 0;
    }

    /** One may have been executed, at least. */
    synchronized boolean mayBeThere() {
        return mayCome > 0 || mayBeThere;
    }

    synchronized long epoch() {
        return epoch;
    }
}
