// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers the watch of a grant only after the grant has been held for a while, so that short holds need none.
 *
 * <p>One timer serves all grants of a client. It runs only while a grant without a watch is held. Thread-safe.
 */
public final class LongHoldWatchScheduler {
    /** A held grant that may not have a watch yet. */
    public interface Held {
        /** Registers the watch, if it is still needed. Returns immediately. */
        void registerWatch();
    }

    private static final Logger log = LoggerFactory.getLogger(LongHoldWatchScheduler.class);

    private final LockClock clock;
    private final Duration period;

    /** The grants that were added since the last tick. */
    @GuardedBy("this")
    private Set<Held> recent = new HashSet<>();

    /** The grants that have been held for at least one tick; the next tick registers their watches. */
    @GuardedBy("this")
    private Set<Held> older = new HashSet<>();

    @GuardedBy("this")
    private boolean ticking;

    /**
     * Creates the deferred watches of one client.
     *
     * @param clock the clock of the client
     * @param period the interval of the timer, more than zero. A watch is registered after one to two periods, so a deletion
     *     stays unnoticed for at most two
     */
    public LongHoldWatchScheduler(LockClock clock, Duration period) {
        this.clock = clock;
        this.period = period;
    }

    /** Adds a grant that has no watch. */
    public void add(Held granted) {
        synchronized (this) {
            recent.add(granted);
            if (ticking) {
                return;
            }
            ticking = true;
        }
        clock.schedule(period, this::tick);
    }

    /**
     * Removes a grant that has ended or has its watch. A watch that is being registered concurrently is still registered.
     * Idempotent.
     */
    public synchronized void remove(Held ended) {
        recent.remove(ended);
        older.remove(ended);
    }

    private void tick() {
        Set<Held> due;
        boolean again;
        synchronized (this) {
            due = older;
            older = recent;
            recent = new HashSet<>();
            ticking = !older.isEmpty();
            again = ticking;
        }
        if (again) {
            clock.schedule(period, this::tick);
        }
        due.forEach(LongHoldWatchScheduler::register);
    }

    /** Registers one watch. A failure must not prevent the registration of the others. */
    private static void register(Held held) {
        try {
            held.registerWatch();
        } catch (Throwable e) {
            log.error("event=deferred-watch-failed", e);
        }
    }
}
