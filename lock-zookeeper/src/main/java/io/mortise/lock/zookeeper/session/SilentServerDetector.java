// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Detects that a server has stopped responding to requests.
 *
 * <p>ZooKeeper's own client waits for two thirds of the session timeout, and then up to a second more. By then a short session
 * has lost its leases. A server that still replies to earlier requests is busy rather than silent, and would also be busy after
 * a reconnect.
 */
final class SilentServerDetector {
    private SilentServerDetector() {}

    /**
     * Runs an action once the server has sent no response for a while, unless the request that was just sent completes first.
     *
     * @param silenceLimit the time for which the server may send no response
     * @param lastResponseAt the time of the server's last response
     * @param request the request that was just sent
     */
    static void start(
            LockClock clock,
            Duration silenceLimit,
            Supplier<MonotonicInstant> lastResponseAt,
            CompletableFuture<?> request,
            Runnable onSilence) {
        start(clock, silenceLimit, clock.now(), lastResponseAt, request, onSilence);
    }

    private static void start(
            LockClock clock,
            Duration silenceLimit,
            MonotonicInstant since,
            Supplier<MonotonicInstant> lastResponseAt,
            CompletableFuture<?> request,
            Runnable onSilence) {
        Duration remaining = silenceLimit.minus(clock.since(since));
        LockClock.Timer timer = clock.schedule(remaining.isNegative() ? Duration.ZERO : remaining, () -> {
            MonotonicInstant lastResponse = lastResponseAt.get();
            if (request.isDone()) {
                return;
            }
            if (lastResponse.isAfter(since)) {
                start(clock, silenceLimit, lastResponse, lastResponseAt, request, onSilence);
            } else {
                onSilence.run();
            }
        });
        request.whenComplete((reply, failure) -> timer.cancel());
    }
}
