// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grants without a watch on their key get one when they have been held for a while, {@link #PERIOD} to twice that: a short
 * hold never pays for it. One timer for all of a client, and only while there are such grants.
 */
final class LateArming {
    /** A grant that may lack the watch. */
    interface Held {
        /** Arms it, if it is still needed. Returns at once. */
        void watchOwn();
    }

    private static final Logger log = LoggerFactory.getLogger(LateArming.class);

    /** Twice this, and two round trips, are well below the 200 ms within which a deletion is told (S7). */
    static final Duration PERIOD = Duration.ofMillis(50);

    private final LockClock clock;

    @GuardedBy("this")
    private Set<Held> fresh = new HashSet<>();

    /** Those that have seen one tick. */
    @GuardedBy("this")
    private Set<Held> older = new HashSet<>();

    @GuardedBy("this")
    private boolean ticking;

    LateArming(LockClock clock) {
        this.clock = clock;
    }

    void add(Held granted) {
        synchronized (this) {
            fresh.add(granted);
            if (ticking) {
                return;
            }
            ticking = true;
        }
        clock.schedule(PERIOD, this::tick);
    }

    synchronized void remove(Held ended) {
        fresh.remove(ended);
        older.remove(ended);
    }

    private void tick() {
        Set<Held> due;
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
        due.forEach(LateArming::arm);
    }

    /** One that fails must not keep it from the others. */
    private static void arm(Held held) {
        try {
            held.watchOwn();
        } catch (RuntimeException | Error e) {
            log.error("event=late-arming-failed", e);
        }
    }
}
