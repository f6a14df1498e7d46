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
 * Validity of one grant, or of a session with all its grants: renewals extend it, until it expires or is lost. A backend
 * subclasses it to hang a key on, and answers renewals through it. Thread-safe. Lost once, lost for ever (S6).
 */
public class GrantValidity {
    private static final Logger log = LoggerFactory.getLogger(GrantValidity.class);

    private final LockClock clock;
    private final Duration renewEvery;
    private final Set<Listener> listeners = new LinkedHashSet<>(); // guarded by itself
    private volatile MonotonicTime validUntil;
    private volatile boolean overdue; // somebody was told that it is not valid any more
    private volatile @Nullable LossReason lost;

    /**
     * Proved once already: by what granted it.
     *
     * @param renewEvery how long after one renewal the next is due
     * @param validUntil until when it is certainly valid: see {@link LockClock#deadline}
     */
    protected GrantValidity(LockClock clock, Duration renewEvery, MonotonicTime validUntil) {
        this.clock = clock;
        this.renewEvery = renewEvery;
        this.validUntil = validUntil;
    }

    /**
     * Returns the same validities as the kind that a backend made them: for {@link LockBackend#renew}.
     *
     * @throws ClassCastException one of them is not of that kind: it is another backend's
     */
    public static <K extends GrantValidity> List<K> cast(List<GrantValidity> all, Class<K> kind) {
        return all.stream().map(kind::cast).toList();
    }

    /**
     * A renewal succeeded. Only ever moves the deadline later; an answer that arrives past the old deadline does not count,
     * for the core may have announced the loss.
     *
     * @return whether it is still valid
     */
    public final boolean extend(MonotonicTime until) {
        List<Listener> told;
        synchronized (listeners) {
            if (!isValid()) {
                told = List.of();
            } else {
                validUntil = validUntil.orLater(until);
                told = List.copyOf(listeners);
            }
        }
        told.forEach(Listener::extended);
        return checkDeadline();
    }

    /** Records that the store has it no more; the first reason wins, and every lease on it is told. */
    public final void lost(LossReason reason) {
        announce(reason).run();
    }

    /** Tells every lease on it. Returns what can wait until the leases on others have been told too. */
    private Runnable announce(LossReason reason) {
        List<Listener> told;
        synchronized (listeners) {
            if (lost != null) {
                return () -> {};
            }
            lost = reason;
            told = new ArrayList<>(listeners);
            listeners.clear();
        }
        told.forEach(listener -> safely(reason, () -> listener.lost(reason)));
        return () -> {
            told.forEach(listener -> safely(reason, () -> listener.afterLoss(reason)));
            onLost(reason);
        };
    }

    /** One that fails must not keep the others from hearing of it. */
    private static void safely(LossReason reason, Runnable notice) {
        try {
            notice.run();
        } catch (RuntimeException | Error e) {
            log.error("event=loss-notice-failed reason=\"{}\"", reason, e);
        }
    }

    /**
     * A renewal found that the store has it no more. Somebody removed it then, unless its deadline has passed: after that the
     * store lets it go by itself.
     */
    public final void removed(String detail) {
        if (checkDeadline()) {
            lost(new LossReason(LossReason.Kind.REMOVED, detail));
        }
    }

    /** A renewal had no clear answer. Never moves the deadline; another follows soon. */
    public final void unknown(Throwable cause) {
        List<Listener> told;
        synchronized (listeners) {
            told = List.copyOf(listeners);
        }
        told.forEach(listener -> listener.unknown(cause));
    }

    /** Whether it is certainly valid now. Once false, never true again. */
    public final boolean isValid() {
        if (lost != null || overdue) {
            return false;
        }
        if (!clock.hasPassed(validUntil)) {
            return true;
        }
        synchronized (listeners) { // a renewal that is being counted right now comes before "no", or not at all
            overdue |= clock.hasPassed(validUntil);
            return !overdue;
        }
    }

    /** Returns until when it is certainly valid. */
    public final MonotonicTime validUntil() {
        return validUntil;
    }

    /** How long after one renewal the next is due. */
    public final Duration renewEvery() {
        return renewEvery;
    }

    /** Why it was lost. */
    public final Optional<LossReason> reason() {
        return Optional.ofNullable(lost);
    }

    /** Makes it lost if the deadline has passed. Returns whether it is valid. For the core's timer. */
    public final boolean checkDeadline() {
        Optional<Runnable> aftermath = expire();
        aftermath.ifPresent(Runnable::run);
        return aftermath.isEmpty();
    }

    /**
     * Makes it lost if the deadline has passed, and tells the leases on it. For the core's timer, which does so for all that are
     * over before it does anything else.
     *
     * @return what else is to be done then, such as logs and requests; empty if it is valid
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
        List<Listener> asked;
        synchronized (listeners) {
            asked = List.copyOf(listeners);
        }
        return asked.stream()
                .flatMap(listener -> listener.whyExpired().stream())
                .findFirst()
                .orElse("no renewal succeeded before the deadline");
    }

    /** The core listens. False if it is lost already; the listener is not called then. */
    public final boolean attach(Listener listener) {
        synchronized (listeners) {
            if (lost != null) {
                return false;
            }
            listeners.add(listener);
            return true;
        }
    }

    /** Ends {@link #attach}. */
    public final void detach(Listener listener) {
        synchronized (listeners) {
            listeners.remove(listener);
        }
    }

    /** For the backend: it was lost, also when the core found it. Ends the session, wakes its waiters; returns at once. */
    protected void onLost(LossReason reason) {}

    /** How the core hears of it. Called on any thread; returns at once. */
    public interface Listener {
        /** See {@link GrantValidity#extend}. */
        default void extended() {}

        /** See {@link GrantValidity#unknown}. */
        default void unknown(Throwable cause) {}

        /** See {@link GrantValidity#lost}. Changes states and hands over callbacks; logs nothing and sends nothing. */
        void lost(LossReason reason);

        /** All listeners have been told: logs and requests. */
        default void afterLoss(LossReason reason) {}

        /** What is known of why the deadline passed. */
        default Optional<String> whyExpired() {
            return Optional.empty();
        }
    }
}
