// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Limits the rate of warnings: logs the first few of each kind, and counts the rest.
 *
 * <p>The first few in a period are logged at WARN. The others are logged at DEBUG, and as one line with their number at the end
 * of the period. While the warnings continue, the periods become longer. Thread-safe.
 */
public final class ThrottledLog {
    private static final int LINES = 5;
    private static final Duration SHORTEST_PERIOD = Duration.ofSeconds(10);
    private static final Duration LONGEST_PERIOD = Duration.ofMinutes(10);

    private final LockClock clock;
    private final Logger log;

    @GuardedBy("this")
    private final Map<String, Period> periods = new HashMap<>();

    public ThrottledLog(LockClock clock) {
        this(clock, LoggerFactory.getLogger(ThrottledLog.class));
    }

    public ThrottledLog(LockClock clock, Logger log) {
        this.clock = clock;
        this.log = log;
    }

    /**
     * Logs an event at WARN, or counts it and logs it at DEBUG.
     *
     * @param event the name of the event
     * @param kind the category by which events are counted; there must be only a few
     * @param format the text after the name of the event, in SLF4J format
     * @return whether it was logged at WARN
     */
    public boolean warn(String event, Object kind, String format, Object... args) {
        boolean warned = mayWarn(event, kind);
        log.atLevel(warned ? Level.WARN : Level.DEBUG).log("event=" + event + " " + format, args);
        return warned;
    }

    private synchronized boolean mayWarn(String event, Object kind) {
        MonotonicInstant now = clock.now();
        Period period = periods.computeIfAbsent(event, each -> new Period(now));
        period.startNextIfEnded(now);
        if (period.lines < LINES) {
            period.lines++;
            return true;
        }
        if (period.more.isEmpty()) {
            clock.schedule(now.until(period.end), this::flush);
        }
        period.more.merge(kind, 1, Integer::sum);
        period.overflowed = true;
        return false;
    }

    /** Logs the numbers of the events that were only counted, at the end of a period and when the client closes. */
    public void flush() {
        Map<String, Map<Object, Integer>> counted = new LinkedHashMap<>();
        synchronized (this) {
            periods.forEach((event, period) -> {
                counted.put(event, Map.copyOf(period.more));
                period.more.clear();
            });
        }
        counted.forEach((event, more) ->
                more.forEach((kind, count) -> log.warn("event={}-more count={} kind={}", event, count, kind)));
    }

    /** The current period of one event, with the number of its lines and the counts of further events. */
    private static final class Period {
        private final Map<Object, Integer> more = new LinkedHashMap<>();
        private Duration length = SHORTEST_PERIOD;
        private MonotonicInstant end;
        private int lines;
        private boolean overflowed;

        Period(MonotonicInstant now) {
            end = now.plus(length);
        }

        /**
         * Starts the next period if this one has ended. It is twice as long if this one had too many events and they continue.
         */
        void startNextIfEnded(MonotonicInstant now) {
            if (now.isBefore(end)) {
                return;
            }
            boolean continues = overflowed && now.isBefore(end.plus(length));
            length = continues ? Durations.shorter(length.multipliedBy(2), LONGEST_PERIOD) : SHORTEST_PERIOD;
            end = now.plus(length);
            lines = 0;
            overflowed = false;
        }
    }
}
