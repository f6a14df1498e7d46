// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.List;

/**
 * The holder and the waiters of one lock, as the store recorded them at one moment.
 *
 * @param name the name of the lock, unescaped
 * @param holders the holders of the lock, during a delayed release the last one; at most one, since locks are exclusive
 * @param waiters the waiters in the store's own queue, in queue order; waiters in a local queue of a process are not visible
 */
public record LockStatus(String name, List<LockHolder> holders, List<LockHolder> waiters) {
    public LockStatus {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }
}
