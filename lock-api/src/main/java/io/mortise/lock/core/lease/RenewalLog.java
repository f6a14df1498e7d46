// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs renewals without an answer: one line when an outage begins, and one when it ends. Those in between are logged at DEBUG,
 * one line per failed request. It logs on the timer's thread, never on the caller's.
 */
public final class RenewalLog {
    private final LockClock clock;
    private final Logger log;
    private final ThrottledLog warnings;

    @GuardedBy("this")
    private @Nullable Outage outage;

    public RenewalLog(LockClock clock, ThrottledLog warnings) {
        this(clock, warnings, LoggerFactory.getLogger(RenewalLog.class));
    }

    public RenewalLog(LockClock clock, ThrottledLog warnings, Logger log) {
        this.clock = clock;
        this.warnings = warnings;
        this.log = log;
    }

    /** How a lease ends to be without an answer. */
    enum Outcome {
        RENEWED,
        LOST,
        RELEASED
    }

    /**
     * A renewal of one lease had no answer. One request may renew many leases, and fails for each with the same cause.
     *
     * @param left the time until the deadline of the lease
     * @param first whether the renewal before had an answer
     */
    synchronized void failed(Throwable cause, Duration left, boolean first) {
        Outage current = outage;
        if (current == null) {
            current = new Outage(clock.now());
            outage = current;
        }
        if (first) {
            current.unanswered++;
        }
        if (current.failures.isEmpty()) {
            Outage logged = current;
            clock.schedule(Duration.ZERO, () -> logFailures(logged));
        }
        current.failures.merge(cause, new Failure(1, left), Failure::plus);
    }

    /** A lease whose last renewal had no answer is renewed, or over. */
    synchronized void ended(Outcome how) {
        Outage current = outage;
        if (current == null) {
            return;
        }
        current.endings.merge(how, 1, Integer::sum);
        if (--current.unanswered == 0) {
            outage = null;
            clock.schedule(Duration.ZERO, () -> logEnd(current));
        }
    }

    private void logFailures(Outage of) {
        IdentityHashMap<Throwable, Failure> logged;
        synchronized (this) {
            logged = new IdentityHashMap<>(of.failures);
            of.requests += of.failures.size();
            of.failures.clear();
        }
        logged.forEach((cause, failure) -> logFailure(of, cause, failure));
    }

    private void logFailure(Outage of, Throwable cause, Failure failure) {
        long left = failure.leastLeft().toMillis();
        if (!of.begun) {
            of.begun = true;
            of.told = warnings.warn(
                    "renewal-unknown",
                    "NO_ANSWER",
                    "leases={} left_ms={} cause=\"{}\" hint=\"they are lost unless one of the next renewals has an answer in that time\"",
                    failure.leases(),
                    left,
                    cause.toString());
        } else {
            log.debug(
                    "event=renewal-unknown leases={} left_ms={} cause=\"{}\"",
                    failure.leases(),
                    left,
                    cause.toString());
        }
    }

    private void logEnd(Outage of) {
        log.atLevel(of.told ? Level.INFO : Level.DEBUG)
                .log(
                        "event=renewal-unknown-over renewed={} lost={} released={} requests={} after_ms={}",
                        of.endings.getOrDefault(Outcome.RENEWED, 0),
                        of.endings.getOrDefault(Outcome.LOST, 0),
                        of.endings.getOrDefault(Outcome.RELEASED, 0),
                        of.requests,
                        clock.since(of.since).toMillis());
    }

    /** From the first renewal without an answer until no lease is without one. Its fields are guarded by the log. */
    private static final class Outage {
        private final MonotonicTime since;
        private final IdentityHashMap<Throwable, Failure> failures = new IdentityHashMap<>(); // not logged yet
        private final Map<Outcome, Integer> endings = new EnumMap<>(Outcome.class);
        private int unanswered; // leases
        private int requests;
        private boolean begun; // on the timer's thread alone, as the next one
        private boolean told;

        Outage(MonotonicTime since) {
            this.since = since;
        }
    }

    /** How many leases one failed request was to renew, and the least time that one of them has left. */
    private record Failure(int leases, Duration leastLeft) {
        Failure plus(Failure other) {
            return new Failure(leases + other.leases, Durations.shorter(leastLeft, other.leastLeft));
        }
    }
}
