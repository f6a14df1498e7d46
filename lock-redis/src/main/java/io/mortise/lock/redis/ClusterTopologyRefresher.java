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

/**
 * Refreshes Lettuce's map from hash slots to cluster masters after redirects and connection failures. It repeats the refresh
 * until all masters that this client uses are connected again.
 */
final class ClusterTopologyRefresher {
    private static final Logger log = LoggerFactory.getLogger(ClusterTopologyRefresher.class);

    /** The pause between two refreshes, since each one queries all nodes; it grows while a master is unreachable. */
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(200);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private static final long CLOSE_LIMIT_MILLIS = 500;

    private final RedisClusterClient client;
    private final LockClock clock;
    private final BooleanSupplier allConnected;
    private final Runnable refreshed;

    @GuardedBy("this")
    private boolean underWay;

    @GuardedBy("this")
    private boolean requested;

    @GuardedBy("this")
    private Duration pause = SHORTEST_PAUSE;

    private volatile CompletableFuture<Void> lastRefresh = CompletableFuture.completedFuture(null);
    private volatile boolean closed;

    /**
     * @param allConnected whether the topology can be relied on; otherwise it is refreshed again after a pause
     * @param refreshed called after each refresh, on an I/O thread
     */
    ClusterTopologyRefresher(
            RedisClusterClient client, LockClock clock, BooleanSupplier allConnected, Runnable refreshed) {
        this.client = client;
        this.clock = clock;
        this.allConnected = allConnected;
        this.refreshed = refreshed;
    }

    /** Refreshes the topology soon, in the background. */
    void refresh() {
        synchronized (this) {
            requested = true;
            if (underWay) {
                return;
            }
            underWay = true;
        }
        refreshNow();
    }

    private void refreshNow() {
        synchronized (this) {
            requested = false;
        }
        try {
            CompletableFuture<Void> refreshing = client.refreshPartitionsAsync().toCompletableFuture();
            lastRefresh = refreshing;
            refreshing.whenComplete((ok, failure) -> {
                if (failure != null) {
                    log.debug("event=topology-unknown cause=\"{}\"", failure.toString());
                }
                refreshed.run();
                pause();
            });
        } catch (RuntimeException e) { // the client was closed meanwhile
            log.debug("event=topology-unknown cause=\"{}\"", e.toString());
            pause();
        }
    }

    private synchronized void pause() {
        clock.schedule(pause, this::next);
    }

    /** Starts the next refresh, if one was requested during the pause or the topology is not stable yet. */
    private void next() {
        boolean stable = closed || allConnected.getAsBoolean();
        synchronized (this) {
            if (closed || (stable && !requested)) {
                underWay = false;
                pause = SHORTEST_PAUSE;
                return;
            }
            Duration longer = pause.multipliedBy(3).dividedBy(2);
            pause = stable ? SHORTEST_PAUSE : Durations.shorter(longer, LONGEST_PAUSE);
        }
        refreshNow();
    }

    /** Ends the refreshes; completes when the one under way has ended, or after a short limit. */
    CompletableFuture<?> close() {
        closed = true;
        return lastRefresh
                .handle((ok, failure) -> true)
                .completeOnTimeout(false, CLOSE_LIMIT_MILLIS, TimeUnit.MILLISECONDS);
    }
}
