// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.cluster.RedisClusterClient;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Knows which master serves which slot; reads the topology anew when something points to a change. */
final class ClusterTopologyRefresher {
    private static final Logger log = LoggerFactory.getLogger(ClusterTopologyRefresher.class);

    /** Between two, since each asks all nodes; longer and longer while a master is away. */
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(200);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private static final long CLOSE_LIMIT_MILLIS = 500;

    private final RedisClusterClient client;
    private final LockClock clock;
    private final BooleanSupplier whole;
    private final Runnable refreshed;

    @GuardedBy("this")
    private boolean underWay;

    @GuardedBy("this")
    private boolean wanted;

    @GuardedBy("this")
    private Duration pause = SHORTEST_PAUSE;

    private volatile CompletableFuture<Void> view = CompletableFuture.completedFuture(null);
    private volatile boolean closed;

    /**
     * @param whole whether the view is one to rest on: otherwise it is asked for again after a pause
     * @param refreshed told after each new view, on an I/O thread
     */
    ClusterTopologyRefresher(RedisClusterClient client, LockClock clock, BooleanSupplier whole, Runnable refreshed) {
        this.client = client;
        this.clock = clock;
        this.whole = whole;
        this.refreshed = refreshed;
    }

    /** Soon, in the background. */
    void refresh() {
        synchronized (this) {
            wanted = true;
            if (underWay) {
                return;
            }
            underWay = true;
        }
        ask();
    }

    private void ask() {
        synchronized (this) {
            wanted = false;
        }
        try {
            CompletableFuture<Void> asked = client.refreshPartitionsAsync().toCompletableFuture();
            view = asked;
            asked.whenComplete((ok, failure) -> {
                if (failure != null) {
                    log.debug("event=topology-unknown cause=\"{}\"", failure.toString());
                }
                refreshed.run();
                rest();
            });
        } catch (RuntimeException e) { // closed under our feet
            log.debug("event=topology-unknown cause=\"{}\"", e.toString());
            rest();
        }
    }

    private synchronized void rest() {
        clock.schedule(pause, this::next);
    }

    /** What came in the pause is asked for now. */
    private void next() {
        boolean stable = closed || whole.getAsBoolean();
        synchronized (this) {
            if (closed || (stable && !wanted)) {
                underWay = false;
                pause = SHORTEST_PAUSE;
                return;
            }
            Duration longer = pause.multipliedBy(3).dividedBy(2);
            pause = stable ? SHORTEST_PAUSE : Durations.shorter(longer, LONGEST_PAUSE);
        }
        ask();
    }

    /** Ends when nothing is asked for any more, or soon. */
    CompletableFuture<?> close() {
        closed = true;
        return view.handle((ok, failure) -> true).completeOnTimeout(false, CLOSE_LIMIT_MILLIS, TimeUnit.MILLISECONDS);
    }
}
