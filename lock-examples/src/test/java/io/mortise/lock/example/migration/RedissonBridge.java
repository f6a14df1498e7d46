// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.migration;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.LeaseAction;
import org.redisson.api.RLock;

/**
 * What a process runs while some of the others still take Redisson's lock alone, and some already ours alone: both, always ours
 * first. Thread-safe if each call gets an {@code RLock} that its thread may unlock, as Redisson's are.
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
