// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.migration;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.LeaseAction;
import org.redisson.api.RLock;

/**
 * Runs code under both Mortise's and Redisson's lock, so that it excludes clients that use only one of them. It always acquires
 * Mortise's lock first. Needed during a migration from Redisson. Thread-safe, provided that each call gets an {@code RLock}
 * that its thread may unlock, as Redisson's are.
 *
 * @param ours Mortise's lock
 * @param theirs Redisson's lock
 */
record RedissonBridge(DistributedLock ours, RLock theirs) {
    void run(LeaseAction<Exception> body) throws Exception {
        ours.run(lease -> {
            theirs.lockInterruptibly(); // no lease time: Redisson's watchdog renews it
            try {
                body.run(lease);
            } finally {
                theirs.unlock();
            }
        });
    }
}
