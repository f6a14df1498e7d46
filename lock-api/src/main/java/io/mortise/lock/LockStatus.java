// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.List;

/**
 * The holder and the waiters of one lock, as the store shows them at one moment.
 *
 * @param name the lock's name, unescaped
 * @param holders who holds it; at most one for an exclusive lock
 * @param waiters who waits in the store's own queue, in its order; waiters inside a process may not be visible
 */
public record LockStatus(String name, List<LockHolder> holders, List<LockHolder> waiters) {
    public LockStatus {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }
}
