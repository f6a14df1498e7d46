// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.runtime.CloseSteps;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
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
import org.jspecify.annotations.Nullable;

/**
 * Renews leases in batches, and ends each at its deadline by a timer that renewals cannot delay. One per client; a lease that
 * several grants share is renewed once for all.
 *
 * <p>Two timers serve all leases. They are brought forward, never back, and not cancelled with the last lease: a lock that is
 * taken and released over and over does not wake the timer's thread each time.
 */
public final class LeaseKeeper {
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);

    /** So many lost leases are cleaned up in one go. */
    private static final int AT_ONCE = 100;

    /** A timer that is so late was not merely waiting for a processor. */
    private static final Duration MIN_PAUSE = Duration.ofMillis(500);

    private final LockClock clock;
    private final LastResponse lastResponse;
    private final RenewalLog log;
    private final Duration requestTimeout;

    @GuardedBy("this")
    private final Map<GrantValidity, Entry> entries = new LinkedHashMap<>();

    @GuardedBy("this")
    private @Nullable ScheduledRun tick;

    @GuardedBy("this")
    private @Nullable ScheduledRun deadline;

    @GuardedBy("this")
    private boolean stopped;

    /** The latest pause of the process that a late timer has told of. */
    @GuardedBy("this")
    private @Nullable ProcessPause pause;

    private volatile @Nullable LockBackend backend;

    private record ScheduledRun(MonotonicTime at, LockClock.Timer timer) {}

    /** @param length for how long the process did not run, at least */
    private record ProcessPause(MonotonicTime end, Duration length) {}

    public LeaseKeeper(LockClock clock, LastResponse lastResponse, RenewalLog log, Duration requestTimeout) {
        this.clock = clock;
        this.lastResponse = lastResponse;
        this.log = log;
        this.requestTimeout = requestTimeout;
    }

    /** What renews; renewals that fall due before wait. */
    public void start(LockBackend opened) {
        backend = opened;
    }

    /** Keeps a session alive until it is lost, with or without grants on it. */
    public synchronized void keep(GrantValidity session) {
        Entry entry = enter(session);
        if (entry != null) {
            entry.kept = true;
        }
    }

    /** Keeps it alive while grants are on it. False if it is lost already. */
    synchronized boolean hold(GrantValidity validity) {
        Entry entry = enter(validity);
        if (entry == null) {
            return false;
        }
        entry.grants++;
        return true;
    }

    /** One grant less on it. */
    synchronized void unhold(GrantValidity validity) {
        Entry entry = entries.get(validity);
        if (entry != null && --entry.grants == 0 && !entry.kept) {
            entry.answered(RenewalLog.Outcome.RELEASED);
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
        entry.renewAfter(validity.renewEvery(), clock.now());
        return entry;
    }

    private synchronized void forget(Entry entry) {
        entries.remove(entry.validity);
        entry.validity.detach(entry);
    }

    private synchronized void checkBy(MonotonicTime at) {
        deadline = bringForward(deadline, at, this::checkDeadlines);
    }

    /** Never back, so that a run may find nothing to do. */
    @GuardedBy("this")
    private @Nullable ScheduledRun bringForward(@Nullable ScheduledRun known, MonotonicTime at, Runnable run) {
        if (stopped || (known != null && !at.isBefore(known.at))) {
            return known;
        }
        if (known != null) {
            known.timer.cancel();
        }
        return new ScheduledRun(at, clock.schedule(clock.until(at), run));
    }

    /** A deadline moves with each renewal: most are not over when the timer comes. */
    private void checkDeadlines() {
        List<GrantValidity> over = new ArrayList<>();
        synchronized (this) {
            MonotonicTime now = clock.now();
            noticePause(deadline, now);
            deadline = null;
            MonotonicTime soonest = null;
            for (GrantValidity validity : entries.keySet()) {
                MonotonicTime until = validity.validUntil();
                if (now.isBefore(until)) {
                    soonest = soonest == null ? until : soonest.orEarlier(until);
                } else {
                    over.add(validity);
                }
            }
            if (soonest != null) {
                checkBy(soonest);
            }
        }
        Deque<Runnable> aftermath = new ArrayDeque<>();
        for (GrantValidity validity : over) {
            validity.expire().ifPresentOrElse(aftermath::add, () -> checkBy(validity.validUntil())); // renewed just now
        }
        work(aftermath);
    }

    /** A part at a time, so that the timer's thread comes to other deadlines in between. */
    private void work(Deque<Runnable> aftermath) {
        for (int i = 0; i < AT_ONCE && !aftermath.isEmpty(); i++) {
            CloseSteps.run(aftermath.remove());
        }
        if (!aftermath.isEmpty()) {
            clock.schedule(Duration.ZERO, () -> work(aftermath));
        }
    }

    /** A timer that comes late tells that the process, or the machine, did not run. */
    @GuardedBy("this")
    private void noticePause(@Nullable ScheduledRun due, MonotonicTime now) {
        if (due == null) {
            return;
        }
        Duration late = due.at.until(now);
        ProcessPause known = pause;
        if (late.compareTo(MIN_PAUSE) >= 0
                && (known == null || now.isAfter(known.end) || late.compareTo(known.length) > 0)) {
            pause = new ProcessPause(now, late);
        }
    }

    private synchronized Optional<String> whyExpired(Entry entry) {
        noticePause(tick, clock.now()); // asked before the timers had a chance to run
        if (pause != null && !pause.end.isBefore(entry.validity.validUntil())) {
            return Optional.of(String.format(
                    Locale.ROOT,
                    "this process did not run for at least %.1f s, so nothing was renewed",
                    pause.length.toMillis() / 1e3));
        }
        Throwable last = entry.failures == 0 ? null : entry.lastFailure;
        return Optional.of("no renewal succeeded before the deadline" + (last == null ? "" : ": " + last.getMessage()));
    }

    private synchronized void tickBy(MonotonicTime at) {
        tick = bringForward(tick, at, this::renewDue);
    }

    /** All that is due, and what will be soon: many leases taken at different times end up in few requests. */
    private void renewDue() {
        List<GrantValidity> due = new ArrayList<>();
        LockBackend renewing = backend;
        synchronized (this) {
            if (stopped) {
                return;
            }
            MonotonicTime now = clock.now();
            noticePause(tick, now);
            tick = null;
            MonotonicTime next = null;
            for (Entry entry : entries.values()) {
                if (!entry.renewAt.minus(entry.early).isAfter(now)) {
                    due.add(entry.validity);
                    entry.sentAt = now;
                    // Without an answer it comes again after a request timeout, not with the next tick.
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
        } catch (RuntimeException e) {
            due.forEach(validity -> validity.unknown(e));
        }
    }

    /** Brings forward the renewal of those; in one batch, on the timer thread. */
    public void renewNow(Predicate<GrantValidity> which) {
        List<GrantValidity> all;
        synchronized (this) {
            all = List.copyOf(entries.keySet());
        }
        List<GrantValidity> chosen = all.stream().filter(which).toList(); // foreign code
        synchronized (this) {
            MonotonicTime now = clock.now();
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

    /** How many leases it watches. */
    public synchronized int size() {
        return entries.size();
    }

    /** Ends renewals and deadline timers. */
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

    private final class Entry implements GrantValidity.Listener {
        private final GrantValidity validity;
        private boolean kept;
        private int grants;
        private int failures;
        private MonotonicTime renewAt = clock.now();
        private Duration early = Duration.ZERO; // by so much it may join a tick that comes before
        private @Nullable MonotonicTime sentAt;
        private @Nullable Throwable lastFailure;

        Entry(GrantValidity validity) {
            this.validity = validity;
        }

        private void renewAfter(Duration delay, MonotonicTime from) {
            synchronized (LeaseKeeper.this) {
                if (entries.get(validity) == this) {
                    renewAt = from.plus(delay);
                    early = Durations.divide(delay, 5);
                    tickBy(renewAt);
                }
            }
        }

        /** Nobody waits any more for an answer to its renewals. */
        private void answered(RenewalLog.Outcome how) {
            synchronized (LeaseKeeper.this) {
                if (failures > 0 && entries.get(validity) == this) {
                    failures = 0;
                    log.ended(how);
                }
            }
        }

        @Override
        public void extended() {
            lastResponse.received();
            synchronized (LeaseKeeper.this) {
                answered(RenewalLog.Outcome.RENEWED);
                // unasked: by what the session did otherwise
                renewAfter(validity.renewEvery(), sentAt != null ? sentAt : clock.now());
            }
        }

        @Override
        public void unknown(Throwable cause) {
            synchronized (LeaseKeeper.this) {
                if (entries.get(validity) != this) {
                    return;
                }
                log.failed(cause, clock.until(validity.validUntil()), failures == 0);
                Duration retryAfter = Durations.shorter(
                        FIRST_RETRY.multipliedBy(1L << Math.min(failures, 20)), validity.renewEvery());
                failures++;
                lastFailure = cause;
                renewAfter(retryAfter, clock.now());
            }
        }

        @Override
        public Optional<String> whyExpired() {
            return LeaseKeeper.this.whyExpired(this);
        }

        @Override
        public void lost(LossReason reason) {
            synchronized (LeaseKeeper.this) {
                answered(RenewalLog.Outcome.LOST);
                forget(this);
            }
        }
    }
}
