// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.LoggerFactory;

/** Limits how long a backend waits for its connections to end when it is closed. Rule S16. */
public final class BoundedCloseWait {
    /** The longest wait: 1.5 s. It is short, since the core has already waited a request timeout if the store is silent. */
    public static final Duration LIMIT = Duration.ofMillis(1_500);

    private BoundedCloseWait() {}

    /**
     * Waits for the future, at most {@link #LIMIT}, or one request timeout if that is shorter. Never throws. Logs a warning if
     * the future does not complete in time or fails. An interrupt ends the wait; the interrupt flag is kept.
     *
     * @param ended completes when the connections have ended
     * @param what the fields of the log entry: {@code endpoints=}, and {@code bound=} with the time for which the store keeps
     *     orphans, if any
     */
    public static void await(Future<?> ended, Duration requestTimeout, String what) {
        Duration limit = Durations.shorter(requestTimeout, LIMIT);
        try {
            ended.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LoggerFactory.getLogger(BoundedCloseWait.class)
                    .warn("event=close-incomplete {} cause=\"{}\"", what, e.toString());
        }
    }
}
