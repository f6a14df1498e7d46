// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.runtime.FailureSafeRunner;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Backoff;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Renews the leases of one client in batches, and ends each lease at its deadline.
 *
 * <p>A separate timer checks the deadlines, so renewals cannot delay it. A session that several grants share is renewed once
 * for all of them. The two timers, for renewals and for deadlines, serve all leases. They are moved only to an earlier time,
 * and are not cancelled with the last lease: so a lock that is acquired and released repeatedly does not wake the timer thread
 * each time.
 */
public final class LeaseKeeper {
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);

    /** A lease is lost up to one pause before its deadline. With jitter it is less than 1 s, and than an eighth of a period. */
    private static final Duration LONGEST_RETRY = Duration.ofMillis(800);

    private static final int RETRIES_PER_PERIOD = 10;

    /** The number of lost leases that are cleaned up in one run of the timer thread. */
    private static final int CLEANUPS_PER_RUN = 100;

    private final LockClock clock;
    private final LastResponse lastResponse;
    private final RenewalLog log;
    private final Duration requestTimeout;
    private final RandomGenerator random;

    @GuardedBy("this")
    private final Map<GrantValidity, Entry> entries = new LinkedHashMap<>();

    @GuardedBy("this")
    private @Nullable ScheduledRun tick;

    @GuardedBy("this")
    private @Nullable ScheduledRun deadline;

    @GuardedBy("this")
    private boolean stopped;

    @GuardedBy("this")
    private final PauseDetector pauses = new PauseDetector();

    private volatile @Nullable LockBackend backend;

    /** A timer and the instant at which it fires. */
    private record ScheduledRun(MonotonicInstant at, LockClock.Timer timer) {}

    /** A series of renewals without a response. */
    private record Failures(Throwable last, Backoff backoff) {}

    /** @param random the source of the jitter of retries, so that the clients of a store do not all come back at once */
    public LeaseKeeper(
            LockClock clock,
            LastResponse lastResponse,
            RenewalLog log,
            Duration requestTimeout,
            RandomGenerator random) {
        this.clock = clock;
        this.lastResponse = lastResponse;
        this.log = log;
        this.requestTimeout = requestTimeout;
        this.random = random;
    }

    /** Sets the backend that sends the renewals. Renewals that are due before this call are sent later. */
    public void start(LockBackend opened) {
        backend = opened;
    }

    /** Renews a session until it is lost, even while it has no grants. */
    public synchronized void keep(GrantValidity session) {
        Entry entry = enter(session);
        if (entry != null) {
            entry.kept = true;
        }
    }

    /** Adds one grant to a validity, which is renewed while it has grants. Returns false if it is already lost. */
    synchronized boolean hold(GrantValidity validity) {
        Entry entry = enter(validity);
        if (entry == null) {
            return false;
        }
        entry.grants++;
        return true;
    }

    /** Removes one grant from a validity. */
    synchronized void unhold(GrantValidity validity) {
        Entry entry = entries.get(validity);
        if (entry != null && --entry.grants == 0 && !entry.kept) {
            entry.endFailures(RenewalLog.Outcome.RELEASED);
            forget(entry);
        }
    }

    private synchronized @Nullable Entry enter(GrantValidity validity) {
        Entry known = entries.get(validity);
        if (known != null) {
            return known;
        }
        Entry entry = new Entry(validity);
        if (stopped || !validity.attach(entry)) {
            return null;
        }
        entries.put(validity, entry);
        checkBy(validity.validUntil());
        // The request that created the grant may have used up most of its time.
        Duration halfOfLeft = Durations.divide(clock.until(validity.validUntil()), 2);
        entry.renewAfter(Durations.shorter(validity.renewEvery(), halfOfLeft), clock.now());
        return entry;
    }

    private synchronized void forget(Entry entry) {
        entries.remove(entry.validity);
        entry.validity.detach(entry);
    }

    private synchronized void checkBy(MonotonicInstant at) {
        deadline = bringForward(deadline, at, this::checkDeadlines);
    }

    /** Moves a timer to an earlier time, never to a later one; so a run may find nothing to do. */
    @GuardedBy("this")
    private @Nullable ScheduledRun bringForward(@Nullable ScheduledRun known, MonotonicInstant at, Runnable run) {
        if (stopped || (known != null && !at.isBefore(known.at))) {
            return known;
        }
        if (known != null) {
            known.timer.cancel();
        }
        return new ScheduledRun(at, clock.schedule(clock.until(at), run));
    }

    /** Ends the leases whose deadlines have passed. Most have not, because each renewal moves the deadline. */
    private void checkDeadlines() {
        List<GrantValidity> expired = new ArrayList<>();
        synchronized (this) {
            MonotonicInstant now = clock.now();
            noticePause(deadline, now);
            deadline = null;
            MonotonicInstant soonest = null;
            for (GrantValidity validity : entries.keySet()) {
                MonotonicInstant until = validity.validUntil();
                if (now.isBefore(until)) {
                    soonest = soonest == null ? until : soonest.orEarlier(until);
                } else {
                    expired.add(validity);
                }
            }
            if (soonest != null) {
                checkBy(soonest);
            }
        }
        Deque<Runnable> aftermath = new ArrayDeque<>();
        for (GrantValidity validity : expired) {
            // If a renewal succeeded concurrently, check it again at its new deadline.
            validity.expire().ifPresentOrElse(aftermath::add, () -> checkBy(validity.validUntil()));
        }
        runInParts(aftermath);
    }

    /** Runs the tasks in parts, so that the timer thread can check other deadlines in between. */
    private void runInParts(Deque<Runnable> tasks) {
        for (int i = 0; i < CLEANUPS_PER_RUN && !tasks.isEmpty(); i++) {
            FailureSafeRunner.run(tasks.remove());
        }
        if (!tasks.isEmpty()) {
            clock.schedule(Duration.ZERO, () -> runInParts(tasks));
        }
    }

    @GuardedBy("this")
    private void noticePause(@Nullable ScheduledRun due, MonotonicInstant now) {
        if (due != null) {
            pauses.timerRuns(due.at, now);
        }
    }

    private synchronized String whyExpired(Entry entry) {
        noticePause(tick, clock.now()); // after a pause, a caller may get here before the timers run
        return pauses.pauseEndedSince(entry.validity.validUntil())
                .map(pause -> String.format(
                        Locale.ROOT,
                        "this process did not run for at least %.1f s, so nothing was renewed",
                        pause.toMillis() / 1e3))
                .orElseGet(() -> "no renewal succeeded before the deadline"
                        + (entry.failures == null ? "" : ": " + entry.failures.last.getMessage()));
    }

    private synchronized void tickBy(MonotonicInstant at) {
        tick = bringForward(tick, at, this::renewDue);
    }

    /** Renews all leases that are due now or soon, so that leases acquired at different times are renewed in few requests. */
    private void renewDue() {
        List<GrantValidity> due = new ArrayList<>();
        LockBackend renewing = backend;
        synchronized (this) {
            if (stopped) {
                return;
            }
            MonotonicInstant now = clock.now();
            noticePause(tick, now);
            tick = null;
            MonotonicInstant next = null;
            for (Entry entry : entries.values()) {
                if (!entry.renewAt.minus(entry.early).isAfter(now)) {
                    due.add(entry.validity);
                    entry.sentAt = now;
                    // Without a response, renew it again after a request timeout, not with the next tick.
                    entry.renewAt = now.plus(Durations.shorter(entry.validity.renewEvery(), requestTimeout));
                    entry.early = Duration.ZERO;
                }
                next = next == null ? entry.renewAt : next.orEarlier(entry.renewAt);
            }
            if (next != null) {
                tickBy(next);
            }
        }
        if (due.isEmpty() || renewing == null) {
            return;
        }
        try {
            renewing.renew(due);
        } catch (Throwable e) { // a backend in another language may throw any exception
            due.forEach(validity -> validity.renewalUnknown(e));
        }
    }

    /** Renews the selected leases now, in one batch and on the timer thread. */
    public void renewNow(Predicate<GrantValidity> which) {
        List<GrantValidity> all;
        synchronized (this) {
            all = List.copyOf(entries.keySet());
        }
        List<GrantValidity> chosen = all.stream().filter(which).toList(); // code of the backend: not under the monitor
        synchronized (this) {
            MonotonicInstant now = clock.now();
            for (GrantValidity validity : chosen) {
                Entry entry = entries.get(validity);
                if (entry != null) {
                    entry.renewAt = now;
                }
            }
            if (!chosen.isEmpty()) {
                tickBy(now);
            }
        }
    }

    /** Returns the number of leases and sessions that are renewed. */
    public synchronized int size() {
        return entries.size();
    }

    /** Ends all renewals and deadline timers. */
    public synchronized void stop() {
        stopped = true;
        List.copyOf(entries.values()).forEach(this::forget);
        if (tick != null) {
            tick.timer.cancel();
        }
        if (deadline != null) {
            deadline.timer.cancel();
        }
    }

    /** The renewal schedule of one grant or session. */
    private final class Entry implements GrantValidity.Listener {
        private final GrantValidity validity;
        private boolean kept;
        private int grants;
        private MonotonicInstant renewAt = clock.now();
        private Duration early = Duration.ZERO; // how much before renewAt it may be renewed together with others
        private @Nullable MonotonicInstant sentAt;
        private @Nullable Failures failures; // null if the last renewal had a response

        Entry(GrantValidity validity) {
            this.validity = validity;
        }

        private void renewAfter(Duration delay, MonotonicInstant from) {
            synchronized (LeaseKeeper.this) {
                if (entries.get(validity) == this) {
                    renewAt = from.plus(delay);
                    early = Durations.divide(delay, 5);
                    tickBy(renewAt);
                }
            }
        }

        /** Ends a series of renewals without a response, and logs how it ended. */
        private void endFailures(RenewalLog.Outcome how) {
            synchronized (LeaseKeeper.this) {
                if (failures != null && entries.get(validity) == this) {
                    failures = null;
                    log.ended(how);
                }
            }
        }

        @Override
        public void extended() {
            lastResponse.received();
            synchronized (LeaseKeeper.this) {
                endFailures(RenewalLog.Outcome.RENEWED);
                // sentAt is null if another request extended the session before its first renewal
                renewAfter(validity.renewEvery(), sentAt != null ? sentAt : clock.now());
            }
        }

        @Override
        public void renewalUnknown(Throwable cause) {
            synchronized (LeaseKeeper.this) {
                if (entries.get(validity) != this) {
                    return;
                }
                log.failed(cause, clock.until(validity.validUntil()), failures == null);
                Backoff backoff = failures == null ? newBackoff() : failures.backoff;
                failures = new Failures(cause, backoff);
                renewAfter(backoff.next(), clock.now());
            }
        }

        private Backoff newBackoff() {
            Duration longest = Durations.divide(validity.renewEvery(), RETRIES_PER_PERIOD);
            return new Backoff(FIRST_RETRY, Durations.shorter(LONGEST_RETRY, longest), random);
        }

        @Override
        public Optional<String> whyExpired() {
            return Optional.of(LeaseKeeper.this.whyExpired(this));
        }

        @Override
        public void lost(LossReason reason) {
            synchronized (LeaseKeeper.this) {
                endFailures(RenewalLog.Outcome.LOST);
                forget(this);
            }
        }
    }
}
