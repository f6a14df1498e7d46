// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks how long a grant, or a session with all its grants, stays valid.
 *
 * <p>A successful renewal extends the deadline. A validity that has expired or was lost never becomes valid again (S6). A
 * backend creates a subclass that has the key of its grant, and reports the result of each renewal by {@link #extend},
 * {@link #removed}, {@link #lost} or {@link #renewalUnknown}. Thread-safe.
 */
public class GrantValidity {
    private static final Logger log = LoggerFactory.getLogger(GrantValidity.class);
    private static final String NO_RENEWAL = "no renewal succeeded before the deadline";

    private final LockClock clock;
    private final Duration renewEvery;
    private final Set<Listener> listeners = new LinkedHashSet<>(); // guarded by itself
    private volatile MonotonicInstant validUntil;
    private volatile boolean overdue; // isValid() has returned false, so no renewal may count any more
    private volatile @Nullable LossReason lost;

    /**
     * Creates a validity that the grant itself has proved once.
     *
     * @param clock the clock of the client
     * @param renewEvery the time from one renewal to the next
     * @param validUntil the instant until which it is certainly valid; see {@link LockClock#deadline}
     */
    protected GrantValidity(LockClock clock, Duration renewEvery, MonotonicInstant validUntil) {
        this.clock = clock;
        this.renewEvery = renewEvery;
        this.validUntil = validUntil;
    }

    /**
     * Returns the same validities, cast to the class of the backend. For implementations of {@link LockBackend#renew}.
     *
     * @throws ClassCastException if one of them is not of that class, so that it belongs to another backend
     */
    public static <K extends GrantValidity> List<K> cast(List<GrantValidity> all, Class<K> kind) {
        return all.stream().map(kind::cast).toList();
    }

    /**
     * Reports that a renewal succeeded, and moves the deadline, but never to an earlier instant. A reply that arrives after the
     * current deadline does not count, because the core may have announced the loss already (S6).
     *
     * @param until the instant until which it is now certainly valid; see {@link LockClock#deadline}
     * @return whether it is still valid
     */
    public final boolean extend(MonotonicInstant until) {
        List<Listener> notified;
        synchronized (listeners) {
            if (!isValid()) {
                notified = List.of();
            } else {
                validUntil = validUntil.orLater(until);
                notified = List.copyOf(listeners);
            }
        }
        notified.forEach(Listener::extended);
        return checkDeadline();
    }

    /** Reports that the store no longer has the grant or session. The first reason counts; every lease on it is notified. */
    public final void lost(LossReason reason) {
        announce(reason).run();
    }

    /** Notifies every lease on it. Returns the work that can wait until the leases on other validities are notified too. */
    private Runnable announce(LossReason reason) {
        List<Listener> notified;
        synchronized (listeners) {
            if (lost != null) {
                return () -> {};
            }
            lost = reason;
            notified = new ArrayList<>(listeners);
            listeners.clear();
        }
        notified.forEach(listener -> safely(reason, () -> listener.lost(reason)));
        return () -> {
            notified.forEach(listener -> safely(reason, () -> listener.afterLoss(reason)));
            onLost(reason);
        };
    }

    /** Runs one notification. If it fails, the other listeners must still be notified. */
    private static void safely(LossReason reason, Runnable notification) {
        try {
            notification.run();
        } catch (Throwable e) {
            log.error("event=loss-notice-failed reason=\"{}\"", reason, e);
        }
    }

    /**
     * Reports that a renewal found no grant or session in the store. It counts as {@link LossReason.Kind#REMOVED}, unless the
     * deadline has passed: then the store itself may have dropped it, and it counts as {@link LossReason.Kind#EXPIRED}.
     *
     * @param detail see {@link LossReason#detail()}
     */
    public final void removed(String detail) {
        if (checkDeadline()) {
            lost(new LossReason(LossReason.Kind.REMOVED, detail));
        }
    }

    /** Reports that the outcome of a renewal is unknown. The deadline does not move; the core soon sends another renewal. */
    public final void renewalUnknown(Throwable cause) {
        List<Listener> notified;
        synchronized (listeners) {
            notified = List.copyOf(listeners);
        }
        notified.forEach(listener -> listener.renewalUnknown(cause));
    }

    /** Returns whether it is certainly valid now. Once false, never returns true again. */
    public final boolean isValid() {
        if (lost != null || overdue) {
            return false;
        }
        if (!clock.hasPassed(validUntil)) {
            return true;
        }
        synchronized (listeners) { // a concurrent extend() takes effect before this returns false, or not at all
            overdue |= clock.hasPassed(validUntil);
            return !overdue;
        }
    }

    /** Returns the instant until which it is certainly valid. */
    public final MonotonicInstant validUntil() {
        return validUntil;
    }

    /** Returns the time from one renewal to the next. */
    public final Duration renewEvery() {
        return renewEvery;
    }

    /** Returns the reason of the loss; empty if it is not lost. */
    public final Optional<LossReason> reason() {
        return Optional.ofNullable(lost);
    }

    /**
     * Marks it as lost if the deadline has passed, and notifies every lease on it. The core calls this method.
     *
     * @return whether it is still valid
     */
    public final boolean checkDeadline() {
        Optional<Runnable> aftermath = expire();
        aftermath.ifPresent(Runnable::run);
        return aftermath.isEmpty();
    }

    /**
     * Marks it as lost if the deadline has passed, and notifies every lease on it. The core's timer calls this method for all
     * validities that have expired, before it runs the remaining work of any of them.
     *
     * @return the remaining work after a loss, such as logs and requests; empty if it is still valid
     */
    public final Optional<Runnable> expire() {
        if (isValid()) {
            return Optional.empty();
        }
        if (lost != null) {
            return Optional.of(() -> {});
        }
        return Optional.of(announce(new LossReason(LossReason.Kind.EXPIRED, whyExpired())));
    }

    private String whyExpired() {
        List<Listener> current;
        synchronized (listeners) {
            current = List.copyOf(listeners);
        }
        try {
            return current.stream()
                    .flatMap(listener -> listener.whyExpired().stream())
                    .findFirst()
                    .orElse(NO_RENEWAL);
        } catch (
                Throwable e) { // such as a failure of the backend without a readable message: it must not hide the loss
            return NO_RENEWAL;
        }
    }

    /**
     * Registers a listener of the core.
     *
     * @return false if it is already lost; then the listener is not registered, and is not called
     */
    public final boolean attach(Listener listener) {
        synchronized (listeners) {
            if (lost != null) {
                return false;
            }
            listeners.add(listener);
            return true;
        }
    }

    /** Removes a listener that {@link #attach} registered. */
    public final void detach(Listener listener) {
        synchronized (listeners) {
            listeners.remove(listener);
        }
    }

    /**
     * Called once after a loss, whether the backend or the core detected it. A backend overrides it to end the session and wake
     * its waiters. It must return immediately. Default: does nothing.
     */
    protected void onLost(LossReason reason) {}

    /** Callback that notifies the core of renewals and of a loss. May be called on any thread; returns immediately. */
    public interface Listener {
        /** Notifies that a renewal succeeded; see {@link GrantValidity#extend}. */
        default void extended() {}

        /** Notifies that the outcome of a renewal is unknown; see {@link GrantValidity#renewalUnknown}. */
        default void renewalUnknown(Throwable cause) {}

        /**
         * Notifies of the loss; see {@link GrantValidity#lost}. Only changes state and hands callbacks to their executor: logs
         * and requests belong into {@link #afterLoss}.
         */
        void lost(LossReason reason);

        /** Writes logs and sends requests after a loss, once all listeners have been notified. */
        default void afterLoss(LossReason reason) {}

        /** Returns why the deadline passed without a successful renewal; empty if the listener does not know. */
        default Optional<String> whyExpired() {
            return Optional.empty();
        }
    }
}
