// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Detects a server that has stopped answering.
 *
 * <p>ZooKeeper's client waits for two thirds of the session timeout, and then up to a second more: by then short sessions have
 * lost their leases. A server that still answers earlier requests is not silent but busy, and would be so again after a reconnect.
 */
final class SilentServerDetector {
    private SilentServerDetector() {}

    /**
     * Runs an action once the server has answered nothing for a while, unless the request that was just sent is answered.
     *
     * @param silenceLimit how long the server may answer nothing
     * @param answeredAt when the server last answered anything
     */
    static void start(
            LockClock clock,
            Duration silenceLimit,
            Supplier<MonotonicTime> answeredAt,
            CompletableFuture<?> request,
            Runnable onSilence) {
        start(clock, silenceLimit, clock.now(), answeredAt, request, onSilence);
    }

    private static void start(
            LockClock clock,
            Duration silenceLimit,
            MonotonicTime since,
            Supplier<MonotonicTime> answeredAt,
            CompletableFuture<?> request,
            Runnable onSilence) {
        Duration left = silenceLimit.minus(clock.since(since));
        LockClock.Timer timer = clock.schedule(left.isNegative() ? Duration.ZERO : left, () -> {
            MonotonicTime answered = answeredAt.get();
            if (request.isDone()) {
                return;
            }
            if (answered.isAfter(since)) {
                start(clock, silenceLimit, answered, answeredAt, request, onSilence);
            } else {
                onSilence.run();
            }
        });
        request.whenComplete((answered, failure) -> timer.cancel());
    }
}
