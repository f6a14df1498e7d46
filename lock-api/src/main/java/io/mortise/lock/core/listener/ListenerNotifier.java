// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import io.mortise.lock.LockListener;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.internal.ElectionReporter;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Notifies the listeners of one client, including the flight recorder's. What a listener throws is only logged. */
public final class ListenerNotifier {
    /** The listener that records events for JDK Flight Recorder; empty if this runtime has no flight recorder. */
    private static final Optional<LockListener> FLIGHT_RECORDER = flightRecorder();

    private final String backend;
    private final List<LockListener> listeners;
    private final LockClock clock;
    private final ThrottledLog warnings;

    /** @param backend the kind of store; see {@link LockListener#acquireStarted} */
    public ListenerNotifier(String backend, List<LockListener> listeners, LockClock clock, ThrottledLog warnings) {
        this.backend = backend;
        this.listeners = new ArrayList<>(listeners);
        FLIGHT_RECORDER.ifPresent(this.listeners::add);
        this.clock = clock;
        this.warnings = warnings;
    }

    private static Optional<LockListener> flightRecorder() {
        try {
            return Optional.of(new FlightRecorderListener());
        } catch (LinkageError e) { // a runtime image without the module jdk.jfr
            return Optional.empty();
        }
    }

    /** Notifies that an acquire starts. Returns the notifier for its further events; null if nobody observes it. */
    public @Nullable AcquireNotifier acquireStarted(LockName name) {
        List<LockListener.AcquireObserver> observers = List.of();
        for (LockListener listener : listeners) {
            LockListener.AcquireObserver observer =
                    guarded("acquireStarted", () -> listener.acquireStarted(backend, name.value()));
            if (observer != null) {
                observers = observers.isEmpty() ? new ArrayList<>(listeners.size()) : observers;
                observers.add(observer);
            }
        }
        return observers.isEmpty() ? null : new AcquireNotifier(this, clock, observers);
    }

    /** Notifies that a candidate starts its campaign on the lock. Returns what notifies of its further events. */
    public ElectionReporter.Campaign electionStarted(LockName name, BooleanSupplier leading) {
        List<LockListener.ElectionObserver> observers = new ArrayList<>();
        for (LockListener listener : listeners) {
            LockListener.ElectionObserver observer =
                    guarded("electionStarted", () -> listener.electionStarted(backend, name.value(), leading));
            if (observer != null) {
                observers.add(observer);
            }
        }
        return new ElectionReporter.Campaign() {
            @Override
            public void elected() {
                notifyEach("elected", observers, LockListener.ElectionObserver::elected);
            }

            @Override
            public void ended() {
                notifyEach("ended", observers, LockListener.ElectionObserver::ended);
            }
        };
    }

    /** Calls one method of each observer. */
    <T> void notifyEach(String method, List<T> observers, Consumer<T> notification) {
        for (T each : observers) {
            guarded(method, () -> {
                notification.accept(each);
                return null;
            });
        }
    }

    /** Calls one method of a listener. Returns null if it throws. */
    <T> @Nullable T guarded(String method, Supplier<? extends @Nullable T> call) {
        try {
            return call.get();
        } catch (Throwable e) { // whatever it is, the lock does not depend on it
            logFailure(method, e);
            return null;
        }
    }

    private void logFailure(String method, Throwable failure) {
        String cause = failure.getClass().getName();
        try {
            warnings.warn("listener-failed", method, "method={} cause={}", method, cause, failure);
        } catch (Throwable unprintable) { // the failure's own text may fail
            try {
                warnings.warn("listener-failed", method, "method={} cause={}", method, cause);
            } catch (Throwable ignored) {
                // The log itself fails. The lock does not depend on it either.
            }
        }
    }
}
