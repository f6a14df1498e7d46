// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.LoggerFactory;

/** Limits how long a backend waits for its connections to end when it is closed (S16). */
public final class BoundedCloseWait {
    /** The core has waited for a whole request timeout already if the store is silent. */
    public static final Duration LIMIT = Duration.ofMillis(1_500);

    private BoundedCloseWait() {}

    /**
     * Waits at most {@link #LIMIT}, or one request timeout if that is shorter. Never throws; what did not end by then is logged.
     *
     * @param what for the log: {@code endpoints=}, and {@code bound=} if the store keeps for so long what is left there
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
