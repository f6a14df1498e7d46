// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener.AcquireObserver;
import io.mortise.lock.LockListener.LeaseObserver;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Notifies the observers of one acquire and of its lease, one event at a time.
 *
 * <p>Events arrive on any thread. An event that arrives while another one is being delivered is delivered after it, by the same
 * thread. So no thread waits, and no listener is called under a monitor. An event that contradicts an earlier one is dropped,
 * such as a busy answer after the end of the acquire. Thread-safe.
 */
public final class AcquireNotifier {
    private final ListenerNotifier with;
    private final LockClock clock;
    private final List<AcquireObserver> observers;
    private final List<LeaseObserver> leaseObservers =
            new ArrayList<>(1); // used by the delivering thread, as are the flags

    private boolean waiting;
    private boolean acquireEnded;
    private boolean leaseEnded;
    private @Nullable MonotonicInstant validUntil;

    private volatile MonotonicInstant grantedAt;

    @GuardedBy("this")
    private boolean delivering;

    @GuardedBy("this")
    private final Queue<Runnable> later = new ArrayDeque<>(1);

    AcquireNotifier(ListenerNotifier with, LockClock clock, List<AcquireObserver> observers) {
        this.with = with;
        this.clock = clock;
        this.observers = observers;
        this.grantedAt = clock.now();
    }

    /** Notifies that the acquire waits. Has an effect only once. */
    public void waiting() {
        deliver(() -> {
            if (!waiting && !acquireEnded) {
                waiting = true;
                with.notifyEach("waiting", observers, AcquireObserver::waiting);
            }
        });
    }

    /**
     * Notifies of the grant.
     *
     * @param validUntil the first deadline of the lease
     */
    public void granted(Lease lease, MonotonicInstant validUntil) {
        grantedAt = clock.now();
        endAcquire(() -> {
            this.validUntil = validUntil;
            for (AcquireObserver observer : observers) {
                LeaseObserver added = with.guarded("granted", () -> observer.granted(lease));
                if (added != null) {
                    leaseObservers.add(added);
                }
            }
        });
    }

    /** Notifies that another owner held the lock until the time limit. */
    public void busy() {
        endAcquire(() -> with.notifyEach("busy", observers, AcquireObserver::busy));
    }

    /** Notifies that the caller gave up. */
    public void withdrawn() {
        endAcquire(() -> with.notifyEach("withdrawn", observers, AcquireObserver::withdrawn));
    }

    /** Notifies of a failure. */
    public void failed(LockException failure) {
        endAcquire(() -> with.notifyEach("failed", observers, observer -> observer.failed(failure)));
    }

    /**
     * Notifies of a renewal.
     *
     * @param until the deadline since the renewal
     */
    public void renewed(MonotonicInstant until, Duration leaseDuration) {
        MonotonicInstant now = clock.now();
        deliver(() -> {
            MonotonicInstant before = validUntil;
            if (!leaseEnded && before != null) {
                validUntil = until;
                Duration slack = now.until(before.orLater(now));
                with.notifyEach("renewed", leaseObservers, observer -> observer.renewed(slack, leaseDuration));
            }
        });
    }

    /** Notifies of a loss now. */
    public void lost(LossReason reason) {
        lost(reason, clock.since(grantedAt));
    }

    /**
     * Notifies of a loss.
     *
     * @param held the value of {@link #heldUntil} at the loss, or when the release that found it was called
     */
    public void lost(LossReason reason, Duration held) {
        endLease(() -> with.notifyEach("lost", leaseObservers, observer -> observer.lost(reason, held)));
    }

    /**
     * Notifies of the outcome of a release.
     *
     * @param held the value of {@link #heldUntil} when the release was called
     */
    public void released(ReleaseOutcome outcome, Duration held) {
        endLease(() -> with.notifyEach("released", leaseObservers, observer -> observer.released(outcome, held)));
    }

    /** Returns the time from the grant to an instant; zero if that was before the grant. */
    public Duration heldUntil(MonotonicInstant at) {
        return grantedAt.until(at.orLater(grantedAt));
    }

    private void endAcquire(Runnable notification) {
        deliver(() -> {
            if (!acquireEnded) {
                acquireEnded = true;
                notification.run();
            }
        });
    }

    private void endLease(Runnable notification) {
        deliver(() -> {
            if (!leaseEnded) {
                leaseEnded = true;
                notification.run();
            }
        });
    }

    private void deliver(Runnable event) {
        synchronized (this) {
            if (delivering) {
                later.add(event);
                return;
            }
            delivering = true;
        }
        for (Runnable next = event; next != null; next = next()) {
            Runnable current = next;
            with.guarded(
                    "deliver",
                    () -> { // a failure must not keep the later events, nor fail the lock
                        current.run();
                        return null;
                    });
        }
    }

    private synchronized @Nullable Runnable next() {
        Runnable next = later.poll();
        delivering = next != null;
        return next;
    }
}
