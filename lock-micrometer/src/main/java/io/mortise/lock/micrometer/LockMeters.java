// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * The meters for one backend, or for one value of the tag {@code lock}. All are registered at once, so that a counter of losses
 * exists with the value 0 before the first loss: otherwise a monitoring system would see no increase.
 */
final class LockMeters {
    /** Upper bounds of the histogram buckets of an acquire; few, since each is a time series. */
    private static final Duration[] ACQUIRE_BUCKETS = {
        Duration.ofMillis(10),
        Duration.ofMillis(100),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofMinutes(1),
        Duration.ofMinutes(5)
    };

    /** Upper bounds of the histogram buckets of the slack, in percent: Micrometer rounds what it puts into a bucket up to a whole number. */
    private static final double[] SLACK_BUCKETS = {10, 20, 33, 50, 60};

    /** The tag value of each way in which an acquire ends. */
    enum AcquireOutcome {
        GRANTED,
        BUSY,
        WITHDRAWN,
        FAILED
    }

    final AtomicInteger waiting = new AtomicInteger();
    final AtomicInteger held = new AtomicInteger();
    private final Clock clock;
    private final Map<AcquireOutcome, Timer> acquires;
    private final Map<ReleaseOutcome, Timer> holds;
    private final Map<LossReason.Kind, Counter> losses;
    private final DistributionSummary renewals;

    LockMeters(MeterRegistry registry, Tags tags) {
        clock = registry.config().clock();
        Gauge.builder("mortise.lock.waiting", waiting, AtomicInteger::get)
                .description("Acquires that wait for a lock now")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder("mortise.lock.held", held, AtomicInteger::get)
                .description("Leases that are held now")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        acquires = forEach(
                AcquireOutcome.class,
                outcome -> Timer.builder("mortise.lock.acquire")
                        .description("Time from the start of an acquire to its end")
                        .tags(tags.and("outcome", lowerCase(outcome)))
                        .serviceLevelObjectives(ACQUIRE_BUCKETS)
                        .register(registry));
        holds = forEach(
                ReleaseOutcome.class,
                outcome -> Timer.builder("mortise.lock.hold")
                        .description("Time from a grant to the call of the release, or to the loss")
                        .tags(tags.and("outcome", lowerCase(outcome)))
                        .register(registry));
        renewals = DistributionSummary.builder("mortise.lease.renewal")
                .description("Share of the lease that was left when a renewal succeeded")
                .baseUnit("percent")
                .tags(tags)
                .serviceLevelObjectives(SLACK_BUCKETS)
                .register(registry);
        losses = forEach(
                LossReason.Kind.class,
                reason -> Counter.builder("mortise.lock.lost")
                        .description("Leases that were lost")
                        .tags(tags.and("reason", lowerCase(reason)))
                        .register(registry));
    }

    private static <K extends Enum<K>, M> Map<K, M> forEach(Class<K> type, Function<K, M> register) {
        Map<K, M> all = new EnumMap<>(type);
        for (K each : type.getEnumConstants()) {
            all.put(each, register.apply(each));
        }
        return all;
    }

    private static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static <K extends Enum<K>, M> M of(Map<K, M> all, K key) {
        M found = all.get(key);
        if (found == null) {
            throw new IllegalStateException("no meter for " + key);
        }
        return found;
    }

    /** Returns the time by the registry's clock, for {@link #acquired}. */
    long now() {
        return clock.monotonicTime();
    }

    void acquired(AcquireOutcome outcome, long started) {
        of(acquires, outcome).record(now() - started, TimeUnit.NANOSECONDS);
    }

    void held(ReleaseOutcome outcome, Duration time) {
        of(holds, outcome).record(time);
    }

    void renewed(Duration slack, Duration leaseDuration) {
        renewals.record(100.0 * slack.toNanos() / leaseDuration.toNanos());
    }

    void lost(LossReason.Kind reason) {
        of(losses, reason).increment();
    }
}
