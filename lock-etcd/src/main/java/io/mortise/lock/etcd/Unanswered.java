// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import org.jspecify.annotations.Nullable;

/** The acquires of one ticket of which it is not known whether they were executed (S8). Thread-safe. */
final class Unanswered {
    @GuardedBy("this")
    private int mayCome;

    /** The latest epoch of those. */
    @GuardedBy("this")
    private long epoch;

    @GuardedBy("this")
    private boolean mayBeThere;

    synchronized void sending(long inEpoch) {
        mayCome++;
        epoch = Math.max(epoch, inEpoch);
    }

    /** Refused: it was not executed. With certain errors of etcd's it may have been. In both cases it will not be any more. */
    synchronized void sent(@Nullable Throwable failure) {
        boolean refusedWhenDone = EtcdFailure.isRefusedWhenDone(failure);
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
