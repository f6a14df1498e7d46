// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

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
     * @param answeredAt when the server last answered anything, on that clock
     */
    static void start(
            LockClock clock,
            Duration silenceLimit,
            LongSupplier answeredAt,
            CompletableFuture<?> request,
            Runnable onSilence) {
        start(clock, silenceLimit, clock.nanoTime(), answeredAt, request, onSilence);
    }

    private static void start(
            LockClock clock,
            Duration silenceLimit,
            long since,
            LongSupplier answeredAt,
            CompletableFuture<?> request,
            Runnable onSilence) {
        Duration left = silenceLimit.minusNanos(clock.nanoTime() - since);
        LockClock.Timer timer = clock.schedule(left.isNegative() ? Duration.ZERO : left, () -> {
            long answered = answeredAt.getAsLong();
            if (request.isDone()) {
                return;
            }
            if (answered - since > 0) {
                start(clock, silenceLimit, answered, answeredAt, request, onSilence);
            } else {
                onSilence.run();
            }
        });
        request.whenComplete((answered, failure) -> timer.cancel());
    }
}
