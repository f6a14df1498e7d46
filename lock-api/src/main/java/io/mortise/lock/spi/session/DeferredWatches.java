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
 * Registers the watch of a grant only after it has been held for a while, so that short holds need none. One timer for all of
 * a client, and only while there are such grants. Thread-safe.
 */
public final class DeferredWatches {
    /** A grant that may lack the watch. */
    public interface Held {
        /** Arms it, if it is still needed. Returns at once. */
        void watchOwn();
    }

    private static final Logger log = LoggerFactory.getLogger(DeferredWatches.class);

    private final LockClock clock;
    private final Duration period;

    @GuardedBy("this")
    private Set<Held> fresh = new HashSet<>();

    /** Those that have seen one tick. */
    @GuardedBy("this")
    private Set<Held> older = new HashSet<>();

    @GuardedBy("this")
    private boolean ticking;

    /**
     * For one client.
     *
     * @param period more than zero; a deletion that nobody hears of lasts for twice this at most
     */
    public DeferredWatches(LockClock clock, Duration period) {
        this.clock = clock;
        this.period = period;
    }

    /** A grant without a watch. */
    public void add(Held granted) {
        synchronized (this) {
            fresh.add(granted);
            if (ticking) {
                return;
            }
            ticking = true;
        }
        clock.schedule(period, this::tick);
    }

    /** It has ended, or has its watch. One that is being registered right now still is registered. Idempotent. */
    public synchronized void remove(Held ended) {
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
            clock.schedule(period, this::tick);
        }
        due.forEach(DeferredWatches::arm);
    }

    /** One that fails must not keep it from the others. */
    private static void arm(Held held) {
        try {
            held.watchOwn();
        } catch (RuntimeException | Error e) {
            log.error("event=deferred-watch-failed", e);
        }
    }
}
