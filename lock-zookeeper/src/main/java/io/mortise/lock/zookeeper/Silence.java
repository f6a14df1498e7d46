// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * When a server has to be left. ZooKeeper's client waits for two thirds of the session timeout, and then up to a second more:
 * too long for what hangs on the session. A server that answers what was sent before the proof is not silent: it has much to
 * do, and would have it once more after a reconnect.
 */
final class Silence {
    private Silence() {}

    /**
     * Runs {@code silent} once nothing has been answered for the time of patience and the proof, just sent, is still out.
     *
     * @param answeredAt when the server last answered anything, on that clock
     */
    static void await(
            LockClock clock, Duration patience, LongSupplier answeredAt, CompletableFuture<?> proof, Runnable silent) {
        await(clock, patience, clock.nanoTime(), answeredAt, proof, silent);
    }

    private static void await(
            LockClock clock,
            Duration patience,
            long since,
            LongSupplier answeredAt,
            CompletableFuture<?> proof,
            Runnable silent) {
        Duration left = patience.minusNanos(clock.nanoTime() - since);
        LockClock.Timer timer = clock.schedule(left.isNegative() ? Duration.ZERO : left, () -> {
            long answered = answeredAt.getAsLong();
            if (proof.isDone()) {
                return;
            }
            if (answered - since > 0) {
                await(clock, patience, answered, answeredAt, proof, silent);
            } else {
                silent.run();
            }
        });
        proof.whenComplete((answered, failure) -> timer.cancel());
    }
}
