// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Listener that measures the locks of a client with Micrometer; {@code docs/observability.md} lists the meters.
 *
 * <p>Create one for a registry, and pass it to all clients by {@link ClientOptions#listener}: two of them would each register the
 * same gauges, and the registry keeps the first. Thread-safe.
 */
public final class LockMetrics implements LockListener {
    private final MeterRegistry registry;
    private final @Nullable Function<String, String> lockTag;
    private final Map<Key, LockMeters> meters = new ConcurrentHashMap<>();
    private final Map<Key, ElectionMeters> elections = new ConcurrentHashMap<>();

    /** The tags that one set of meters has. */
    private record Key(String backend, @Nullable String lock) {
        Tags tags() {
            return lock == null ? Tags.of("backend", backend) : Tags.of("backend", backend, "lock", lock);
        }
    }

    private LockMetrics(MeterRegistry registry, @Nullable Function<String, String> lockTag) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.lockTag = lockTag;
    }

    /** Returns a listener whose meters distinguish backends, but not locks. */
    public static LockMetrics of(MeterRegistry registry) {
        return new LockMetrics(registry, null);
    }

    /**
     * Returns a listener whose meters have a tag {@code lock} too.
     *
     * <p>Each value of the tag adds about 70 time series, which are kept until the process ends. So map names that contain ids to
     * few values, such as {@code order/42} to {@code order}.
     *
     * @param lockTag returns the value of the tag for the name of a lock; must not block
     */
    public static LockMetrics of(MeterRegistry registry, Function<String, String> lockTag) {
        return new LockMetrics(registry, Objects.requireNonNull(lockTag, "lockTag"));
    }

    @Override
    public AcquireObserver acquireStarted(String backend, String lockName) {
        Key key = key(backend, lockName);
        LockMeters known = meters.get(key);
        return new Measurement(
                known != null ? known : meters.computeIfAbsent(key, each -> new LockMeters(registry, each.tags())));
    }

    @Override
    public ElectionObserver electionStarted(String backend, String lockName, BooleanSupplier leading) {
        return elections
                .computeIfAbsent(key(backend, lockName), each -> new ElectionMeters(registry, each.tags()))
                .started(leading);
    }

    private Key key(String backend, String lockName) {
        return new Key(backend, lockTag == null ? null : Objects.requireNonNull(lockTag.apply(lockName), "lock tag"));
    }

    /** Measures one acquire and its lease. */
    private static final class Measurement implements AcquireObserver, LeaseObserver {
        private final LockMeters meters;
        private final long started;
        private boolean waiting;

        Measurement(LockMeters meters) {
            this.meters = meters;
            this.started = meters.now();
        }

        @Override
        public void waiting() {
            waiting = true;
            meters.waiting.incrementAndGet();
        }

        @Override
        public LeaseObserver granted(Lease lease) {
            ended(LockMeters.AcquireOutcome.GRANTED);
            meters.held.incrementAndGet();
            return this;
        }

        @Override
        public void busy() {
            ended(LockMeters.AcquireOutcome.BUSY);
        }

        @Override
        public void withdrawn() {
            ended(LockMeters.AcquireOutcome.WITHDRAWN);
        }

        @Override
        public void failed(LockException failure) {
            ended(LockMeters.AcquireOutcome.FAILED);
        }

        private void ended(LockMeters.AcquireOutcome outcome) {
            if (waiting) {
                meters.waiting.decrementAndGet();
            }
            meters.acquired(outcome, started);
        }

        @Override
        public void renewed(Duration slack, Duration leaseDuration) {
            meters.renewed(slack, leaseDuration);
        }

        @Override
        public void lost(LossReason reason, Duration held) {
            meters.held.decrementAndGet();
            meters.lost(reason.kind());
            meters.held(ReleaseOutcome.LOST, held);
        }

        @Override
        public void released(ReleaseOutcome outcome, Duration held) {
            meters.held.decrementAndGet();
            meters.held(outcome, held);
        }
    }
}
