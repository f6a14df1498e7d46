// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
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
 * Logs outages in which renewals get no response: one line at the start of an outage and one at its end.
 *
 * <p>In between it logs one line per failed request at DEBUG. It logs on the timer thread, never on the thread of the caller.
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

    /** The outcome for a lease after renewals without a response. */
    enum Outcome {
        RENEWED,
        LOST,
        RELEASED
    }

    /**
     * Records that a renewal of one lease had no response. A request that renews many leases fails for each with the same
     * cause.
     *
     * @param left the time until the deadline of the lease
     * @param first whether the previous renewal of the lease had a response
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

    /** Records that a lease whose last renewal had no response was renewed, or has ended. */
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
        if (!of.startLogged) {
            of.startLogged = true;
            of.warned = warnings.warn(
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
        log.atLevel(of.warned ? Level.INFO : Level.DEBUG)
                .log(
                        "event=renewal-unknown-over renewed={} lost={} released={} requests={} after_ms={}",
                        of.endings.getOrDefault(Outcome.RENEWED, 0),
                        of.endings.getOrDefault(Outcome.LOST, 0),
                        of.endings.getOrDefault(Outcome.RELEASED, 0),
                        of.requests,
                        clock.since(of.since).toMillis());
    }

    /**
     * An outage, from the first renewal without a response until each lease is renewed or has ended. The {@link RenewalLog}
     * guards its fields.
     */
    private static final class Outage {
        private final MonotonicInstant since;
        private final IdentityHashMap<Throwable, Failure> failures = new IdentityHashMap<>(); // not logged yet
        private final Map<Outcome, Integer> endings = new EnumMap<>(Outcome.class);
        private int unanswered; // leases
        private int requests;
        private boolean startLogged; // used on the timer thread only, as is the next field
        private boolean warned;

        Outage(MonotonicInstant since) {
            this.since = since;
        }
    }

    /** A failed request: the number of its leases, and the shortest time until one of their deadlines. */
    private record Failure(int leases, Duration leastLeft) {
        Failure plus(Failure other) {
            return new Failure(leases + other.leases, Durations.shorter(leastLeft, other.leastLeft));
        }
    }
}
