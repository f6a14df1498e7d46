// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Grants without a watch on their node get one when they have been held for a while, {@link #PERIOD} to twice that: a short
 * hold never pays for it. One timer for all of a client, and only while there are such grants.
 */
final class LateArming {
    /** Well below the second within which a deletion is told (S7). */
    static final Duration PERIOD = Duration.ofMillis(100);

    private final LockClock clock;

    @GuardedBy("this")
    private Set<ZkTicket> fresh = new HashSet<>();

    /** Those that have seen one tick. */
    @GuardedBy("this")
    private Set<ZkTicket> older = new HashSet<>();

    @GuardedBy("this")
    private boolean ticking;

    LateArming(LockClock clock) {
        this.clock = clock;
    }

    void add(ZkTicket granted) {
        synchronized (this) {
            fresh.add(granted);
            if (ticking) {
                return;
            }
            ticking = true;
        }
        clock.schedule(PERIOD, this::tick);
    }

    synchronized void remove(ZkTicket ended) {
        if (!fresh.remove(ended)) {
            older.remove(ended);
        }
    }

    private void tick() {
        Set<ZkTicket> due;
        boolean again;
        synchronized (this) {
            due = older;
            older = fresh;
            fresh = new HashSet<>();
            ticking = !older.isEmpty();
            again = ticking;
        }
        if (again) {
            clock.schedule(PERIOD, this::tick);
        }
        due.forEach(ZkTicket::watchOwn);
    }
}
