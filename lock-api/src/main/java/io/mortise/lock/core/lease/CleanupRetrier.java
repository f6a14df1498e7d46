// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Backoff;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Repeats the cleanups of one client until the store responds, and tracks the pending ones. Rule S8. Thread-safe. */
public final class CleanupRetrier {
    private static final Logger log = LoggerFactory.getLogger(CleanupRetrier.class);
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final LockClock clock;
    private final RandomGenerator random;
    private final ThrottledLog warnings;
    private final Set<PendingCleanup<?>> open = Collections.synchronizedSet(new LinkedHashSet<>());
    private final Runnable whenEnded;
    private volatile boolean stopped;

    /** @param whenEnded runs after each cleanup that has ended */
    public CleanupRetrier(LockClock clock, RandomGenerator random, ThrottledLog warnings, Runnable whenEnded) {
        this.clock = clock;
        this.random = random;
        this.warnings = warnings;
        this.whenEnded = whenEnded;
    }

    /** Makes the first try of a cleanup, and schedules further ones if it fails. */
    public void begin(PendingCleanup<?> cleanup) {
        open.add(cleanup);
        attempt(cleanup, new Backoff(FIRST_RETRY, LONGEST_RETRY, random));
    }

    private void attempt(PendingCleanup<?> cleanup, Backoff backoff) {
        if (stopped) {
            open.remove(cleanup);
            cleanup.giveUp(new ClientClosedException("the client is closed"));
            return;
        }
        MonotonicInstant sent = clock.now();
        cleanup.attempt(() -> close(cleanup), failure -> {
            // Not by now: a try that was sent during an outage may hang for a request timeout after it.
            if (!sent.isBefore(cleanup.until())) {
                try {
                    cleanup.giveUp(failure);
                } finally {
                    close(cleanup);
                }
                warnings.warn(
                        "cleanup-given-up",
                        failure.getClass().getSimpleName(),
                        "what=\"{}\" cause=\"{}\"",
                        cleanup.what(),
                        failure.toString()); // last: it may fail
            } else {
                Duration left = Durations.longer(clock.until(cleanup.until()), Duration.ZERO);
                Duration pause = Durations.shorter(left, backoff.next());
                cleanup.retry(clock.schedule(pause, () -> attempt(cleanup, backoff)));
                log.debug("event=cleanup-retry what=\"{}\" cause=\"{}\"", cleanup.what(), failure.toString());
            }
        });
    }

    private void close(PendingCleanup<?> cleanup) {
        open.remove(cleanup);
        whenEnded.run();
    }

    /** Returns whether no cleanup is pending. */
    public boolean isEmpty() {
        return open.isEmpty();
    }

    /** Gives up all pending cleanups. Returns their descriptions, for the log. */
    public List<String> stop() {
        stopped = true;
        List<PendingCleanup<?>> pending = List.copyOf(open);
        pending.forEach(cleanup -> cleanup.giveUp(new ClientClosedException("the client is closed")));
        open.clear();
        return pending.stream().map(PendingCleanup::what).sorted().toList();
    }

    boolean isStopped() {
        return stopped;
    }
}
