// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.core.runtime.Backoff;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All cleanups of a client that the store has not answered yet (S8). */
public final class PendingCleanups {
    private static final Logger log = LoggerFactory.getLogger(PendingCleanups.class);
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final LockClock clock;
    private final RandomGenerator random;
    private final ThrottledLog warnings;
    private final Set<AttemptCleanup<?>> open = Collections.synchronizedSet(new LinkedHashSet<>());
    private final Runnable whenEnded;
    private volatile boolean stopped;

    /** @param whenEnded runs after each that has ended */
    public PendingCleanups(LockClock clock, RandomGenerator random, ThrottledLog warnings, Runnable whenEnded) {
        this.clock = clock;
        this.random = random;
        this.warnings = warnings;
        this.whenEnded = whenEnded;
    }

    public void begin(AttemptCleanup<?> cleanup) {
        open.add(cleanup);
        attempt(cleanup, new Backoff(FIRST_RETRY, LONGEST_RETRY, random));
    }

    private void attempt(AttemptCleanup<?> cleanup, Backoff backoff) {
        if (stopped) {
            open.remove(cleanup);
            cleanup.giveUp(new ClientClosedException("the client is closed"));
            return;
        }
        cleanup.attempt(() -> close(cleanup), failure -> {
            Duration left = clock.until(cleanup.until());
            if (!Durations.isPositive(left)) {
                warnings.warn(
                        "cleanup-given-up",
                        failure.getClass().getSimpleName(),
                        "what=\"{}\" cause=\"{}\"",
                        cleanup.what(),
                        failure.toString());
                try {
                    cleanup.giveUp(failure);
                } finally {
                    close(cleanup);
                }
            } else {
                log.debug("event=cleanup-retry what=\"{}\" cause=\"{}\"", cleanup.what(), failure.toString());
                Duration pause = Durations.shorter(left, backoff.next());
                cleanup.retry(clock.schedule(pause, () -> attempt(cleanup, backoff)));
            }
        });
    }

    private void close(AttemptCleanup<?> cleanup) {
        open.remove(cleanup);
        whenEnded.run();
    }

    public boolean isEmpty() {
        return open.isEmpty();
    }

    /** Ends all retries. Returns what the store has not answered, for the log. */
    public List<String> stop() {
        stopped = true;
        List<AttemptCleanup<?>> left = List.copyOf(open);
        left.forEach(cleanup -> cleanup.giveUp(new ClientClosedException("the client is closed")));
        open.clear();
        return left.stream().map(AttemptCleanup::what).sorted().toList();
    }

    boolean isStopped() {
        return stopped;
    }
}
