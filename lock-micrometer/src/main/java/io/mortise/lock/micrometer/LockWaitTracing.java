// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Listener that observes each wait for a lock with Micrometer, which makes it a span if the application has a tracer.
 *
 * <p>The observation {@code mortise.lock.wait} lasts from the first busy answer to the end of the acquire. An acquire that does not
 * wait has none. Its parent is the observation that was current when the acquire was called. Pass it to a client by
 * {@link ClientOptions#listener}. Thread-safe.
 */
public final class LockWaitTracing implements LockListener {
    private final ObservationRegistry registry;

    private LockWaitTracing(ObservationRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    /** Returns a listener that reports to the registry. */
    public static LockWaitTracing of(ObservationRegistry registry) {
        return new LockWaitTracing(registry);
    }

    @Override
    public @Nullable AcquireObserver acquireStarted(String backend, String lockName) {
        return registry.isNoop() ? null : new Wait(backend, lockName, registry.getCurrentObservation());
    }

    /** Observes one acquire from the moment when it waits. */
    private final class Wait implements AcquireObserver {
        private final String backend;
        private final String lockName;
        private final @Nullable Observation parent;
        private @Nullable Observation observation;

        Wait(String backend, String lockName, @Nullable Observation parent) {
            this.backend = backend;
            this.lockName = lockName;
            this.parent = parent;
        }

        @Override
        public void waiting() {
            observation = Observation.createNotStarted("mortise.lock.wait", registry)
                    .contextualName("lock wait")
                    .lowCardinalityKeyValue("backend", backend)
                    .highCardinalityKeyValue("mortise.lock.name", lockName)
                    .parentObservation(parent)
                    .start();
        }

        @Override
        public @Nullable LeaseObserver granted(Lease lease) {
            Observation waited = observation;
            if (waited != null) {
                try {
                    waited.highCardinalityKeyValue("mortise.lock.token", Long.toString(lease.fencingToken()));
                } catch (UnsupportedOperationException e) {
                    // the backend gives no fencing tokens
                }
                end("granted");
            }
            return null;
        }

        @Override
        public void busy() {
            end("busy");
        }

        @Override
        public void withdrawn() {
            end("withdrawn");
        }

        @Override
        public void failed(LockException failure) {
            if (observation != null) {
                observation.error(failure);
            }
            end("failed");
        }

        private void end(String outcome) {
            if (observation != null) {
                observation.lowCardinalityKeyValue("outcome", outcome).stop();
            }
        }
    }
}
