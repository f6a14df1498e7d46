// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews what is held, and watches each deadline with a timer that no renewal can delay. One per client; a lease that
 * several grants share is renewed once for all.
 *
 * <p>Two timers serve all leases. They are brought forward, never back, and not cancelled with the last lease: a lock that is
 * taken and released over and over does not wake the timer's thread each time.
 */
final class LeaseKeeper {
    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);

    private final LockClock clock;
    private final Contact contact;
    private final Duration requestTimeout;

    @GuardedBy("this")
    private final Map<Liveness, Entry> entries = new LinkedHashMap<>();

    @GuardedBy("this")
    private LockClock.@Nullable Timer tick;

    @GuardedBy("this")
    private long tickAt;

    @GuardedBy("this")
    private LockClock.@Nullable Timer deadline;

    @GuardedBy("this")
    private long deadlineAt;

    @GuardedBy("this")
    private boolean stopped;

    private volatile @Nullable LockBackend backend;

    LeaseKeeper(LockClock clock, Contact contact, Duration requestTimeout) {
        this.clock = clock;
        this.contact = contact;
        this.requestTimeout = requestTimeout;
    }

    /** What renews; renewals that fall due before wait. */
    void start(LockBackend opened) {
        backend = opened;
    }

    /** Keeps a session alive until it is lost, with or without grants on it. */
    synchronized void keep(Liveness session) {
        Entry entry = enter(session);
        if (entry != null) {
            entry.kept = true;
        }
    }

    /** Keeps it alive while grants are on it. False if it is lost already. */
    synchronized boolean hold(Liveness liveness) {
        Entry entry = enter(liveness);
        if (entry == null) {
            return false;
        }
        entry.grants++;
        return true;
    }

    /** One grant less on it. */
    synchronized void unhold(Liveness liveness) {
        Entry entry = entries.get(liveness);
        if (entry != null && --entry.grants == 0 && !entry.kept) {
            forget(entry);
        }
    }

    private synchronized @Nullable Entry enter(Liveness liveness) {
        Entry known = entries.get(liveness);
        if (known != null) {
            return known;
        }
        Entry entry = new Entry(liveness);
        if (stopped || !liveness.attach(entry)) {
            return null;
        }
        entries.put(liveness, entry);
        checkBy(liveness.validUntil());
        entry.renewAfter(liveness.renewEvery().toNanos(), clock.nanoTime());
        return entry;
    }

    private synchronized void forget(Entry entry) {
        entries.remove(entry.liveness);
        entry.liveness.detach(entry);
    }

    private synchronized void checkBy(long at) {
        if (stopped || (deadline != null && deadlineAt - at <= 0)) {
            return;
        }
        if (deadline != null) {
            deadline.cancel();
        }
        deadlineAt = at;
        deadline = clock.schedule(Duration.ofNanos(at - clock.nanoTime()), this::checkDeadlines);
    }

    /** A deadline moves with each renewal: most are not over when the timer comes. */
    private void checkDeadlines() {
        List<Liveness> over = new ArrayList<>();
        synchronized (this) {
            deadline = null;
            long now = clock.nanoTime();
            long soonest = Long.MAX_VALUE;
            for (Liveness liveness : entries.keySet()) {
                long left = liveness.validUntil() - now;
                if (left <= 0) {
                    over.add(liveness);
                } else {
                    soonest = Math.min(soonest, left);
                }
            }
            if (soonest != Long.MAX_VALUE) {
                checkBy(now + soonest);
            }
        }
        for (Liveness liveness : over) {
            if (liveness.checkDeadline()) {
                checkBy(liveness.validUntil()); // renewed just now
            }
        }
    }

    /** Brings the tick forward if need be; never back, so that a tick may find nothing to do. */
    private synchronized void tickBy(long at) {
        if (stopped || (tick != null && tickAt - at <= 0)) {
            return;
        }
        if (tick != null) {
            tick.cancel();
        }
        tickAt = at;
        tick = clock.schedule(Duration.ofNanos(at - clock.nanoTime()), this::renewDue);
    }

    /** All that is due, and what will be soon: many leases taken at different times end up in few requests. */
    private void renewDue() {
        List<Liveness> due = new ArrayList<>();
        LockBackend renewing = backend;
        synchronized (this) {
            tick = null;
            if (stopped) {
                return;
            }
            long now = clock.nanoTime();
            long next = Long.MAX_VALUE;
            for (Entry entry : entries.values()) {
                if (entry.renewAt - now <= entry.early) {
                    due.add(entry.liveness);
                    entry.sentAt = now;
                    // Without an answer it comes again after a request timeout, not with the next tick.
                    entry.renewAt = now + Math.min(entry.liveness.renewEvery().toNanos(), requestTimeout.toNanos());
                    entry.early = 0;
                }
                next = Math.min(next, entry.renewAt - now);
            }
            if (!entries.isEmpty()) {
                tickAt = now + next;
                tick = clock.schedule(Duration.ofNanos(next), this::renewDue);
            }
        }
        if (due.isEmpty() || renewing == null) {
            return;
        }
        try {
            renewing.renew(due);
        } catch (RuntimeException e) {
            due.forEach(liveness -> liveness.unknown(e));
        }
    }

    /** Brings forward the renewal of those; in one batch, on the timer thread. */
    void renewNow(Predicate<Liveness> which) {
        List<Liveness> all;
        synchronized (this) {
            all = List.copyOf(entries.keySet());
        }
        List<Liveness> chosen = all.stream().filter(which).toList(); // foreign code
        synchronized (this) {
            long now = clock.nanoTime();
            for (Liveness liveness : chosen) {
                Entry entry = entries.get(liveness);
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
    synchronized int size() {
        return entries.size();
    }

    /** Ends renewals and deadline timers. */
    synchronized void stop() {
        stopped = true;
        List.copyOf(entries.values()).forEach(this::forget);
        if (tick != null) {
            tick.cancel();
        }
        if (deadline != null) {
            deadline.cancel();
        }
    }

    private final class Entry implements Liveness.Listener {
        private final Liveness liveness;
        private boolean kept;
        private int grants;
        private int failures;
        private long renewAt;
        private long early; // by so much it may join a tick that comes before
        private @Nullable Long sentAt;

        Entry(Liveness liveness) {
            this.liveness = liveness;
        }

        private void renewAfter(long pause, long from) {
            synchronized (LeaseKeeper.this) {
                if (entries.get(liveness) == this) {
                    renewAt = from + pause;
                    early = pause / 5;
                    tickBy(renewAt);
                }
            }
        }

        @Override
        public void extended() {
            contact.made();
            synchronized (LeaseKeeper.this) {
                failures = 0;
                long sent = sentAt != null ? sentAt : clock.nanoTime(); // unasked: by what the session did otherwise
                renewAfter(liveness.renewEvery().toNanos(), sent);
            }
        }

        @Override
        public void unknown(Throwable cause) {
            log.warn(
                    "event=renewal-unknown left_ms={} cause=\"{}\"",
                    (liveness.validUntil() - clock.nanoTime()) / 1_000_000,
                    cause.toString());
            synchronized (LeaseKeeper.this) {
                long pause = Math.min(
                        FIRST_RETRY.toNanos() << Math.min(failures, 20),
                        liveness.renewEvery().toNanos());
                failures++;
                renewAfter(pause, clock.nanoTime());
            }
        }

        @Override
        public void lost(LossReason reason) {
            synchronized (LeaseKeeper.this) {
                forget(this);
            }
        }
    }
}
