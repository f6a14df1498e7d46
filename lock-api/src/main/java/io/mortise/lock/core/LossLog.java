// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs losses: the first ones of a second each by itself, the rest as one line per reason. An outage that ends ten thousand
 * leases does not fill the log.
 */
final class LossLog {
    private static final Duration WINDOW = Duration.ofSeconds(1);
    private static final int MOST_LINES = 10;

    private final LockClock clock;
    private final Logger log;

    @GuardedBy("this")
    private final Map<LossReason, Integer> more = new LinkedHashMap<>();

    @GuardedBy("this")
    private int lines;

    @GuardedBy("this")
    private long windowEnds;

    LossLog(LockClock clock) {
        this(clock, LoggerFactory.getLogger(LossLog.class));
    }

    LossLog(LockClock clock, Logger log) {
        this.clock = clock;
        this.log = log;
        this.windowEnds = clock.nanoTime();
    }

    void lost(LockName name, String ownerId, long token, LossReason reason) {
        if (startsLine(reason)) {
            log.warn("event=lost lock=\"{}\" owner={} token={} reason=\"{}\"", name, ownerId, token, reason);
        } else {
            log.debug("event=lost lock=\"{}\" owner={} token={} reason=\"{}\"", name, ownerId, token, reason);
        }
    }

    private synchronized boolean startsLine(LossReason reason) {
        long now = clock.nanoTime();
        if (now - windowEnds >= 0) {
            lines = 0;
            windowEnds = now + WINDOW.toNanos();
        }
        if (lines < MOST_LINES) {
            lines++;
            return true;
        }
        if (more.isEmpty()) {
            clock.schedule(Duration.ofNanos(windowEnds - now), this::flush);
        }
        more.merge(reason, 1, Integer::sum);
        return false;
    }

    /** What is left to say; also when the client ends. */
    void flush() {
        Map<LossReason, Integer> counts;
        synchronized (this) {
            counts = new LinkedHashMap<>(more);
            more.clear();
        }
        counts.forEach((reason, count) -> log.warn("event=lost-more count={} reason=\"{}\"", count, reason));
    }
}
