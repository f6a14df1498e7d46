// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs the first warnings of a kind, and counts the others. The first few of each event are logged at WARN, the others at
 * DEBUG and as one line with their number. While they go on, that line comes less and less often.
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
     * Logs an event.
     *
     * @param kind what those that are only counted are counted by: one of a few
     * @param format the text after the event's name, as of SLF4J
     * @return whether it was logged at WARN
     */
    public boolean warn(String event, Object kind, String format, Object... args) {
        boolean told = startsLine(event, kind);
        log.atLevel(told ? Level.WARN : Level.DEBUG).log("event=" + event + " " + format, args);
        return told;
    }

    private synchronized boolean startsLine(String event, Object kind) {
        MonotonicTime now = clock.now();
        Period period = periods.computeIfAbsent(event, each -> new Period(now));
        period.startAnew(now);
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

    /** Logs the numbers of those that were only counted; also when the client ends. */
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

    /** Count of the lines that one event has logged in the present period. */
    private static final class Period {
        private final Map<Object, Integer> more = new LinkedHashMap<>();
        private Duration length = SHORTEST_PERIOD;
        private MonotonicTime end;
        private int lines;
        private boolean overflowed;

        Period(MonotonicTime now) {
            end = now.plus(length);
        }

        /** Starts the next period if this one has ended: twice as long where the last one had too many, and they went on. */
        void startAnew(MonotonicTime now) {
            if (now.isBefore(end)) {
                return;
            }
            boolean goesOn = overflowed && now.isBefore(end.plus(length));
            length = goesOn ? Durations.shorter(length.multipliedBy(2), LONGEST_PERIOD) : SHORTEST_PERIOD;
            end = now.plus(length);
            lines = 0;
            overflowed = false;
        }
    }
}
