// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All clean-ups of a client that the store has not answered yet (S8). */
final class Settlements {
    private static final Logger log = LoggerFactory.getLogger(Settlements.class);
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final LockClock clock;
    private final RandomGenerator random;
    private final Set<Settlement<?>> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile boolean stopped;
    private volatile @Nullable Runnable whenDrained;

    Settlements(LockClock clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

    void begin(Settlement<?> settlement) {
        open.add(settlement);
        attempt(settlement, new Backoff(FIRST_RETRY, LONGEST_RETRY, random));
    }

    private void attempt(Settlement<?> settlement, Backoff backoff) {
        if (stopped) {
            return;
        }
        settlement.attempt(() -> close(settlement), failure -> {
            if (clock.nanoTime() - settlement.until() >= 0) {
                log.warn("event=settlement-given-up what=\"{}\" cause=\"{}\"", settlement.what(), failure.toString());
                close(settlement);
                settlement.giveUp(failure);
            } else {
                log.debug("event=settlement-retry what=\"{}\" cause=\"{}\"", settlement.what(), failure.toString());
                clock.schedule(backoff.next(), () -> attempt(settlement, backoff));
            }
        });
    }

    private void close(Settlement<?> settlement) {
        open.remove(settlement);
        checkDrained();
    }

    /** An attempt was sent: what it may leave is not known before its answer, so a client that closes waits for it (S16). */
    void attemptSent() {
        underWay.incrementAndGet();
    }

    /** Its answer was dealt with; what it left is a settlement of its own by now. */
    void attemptAnswered() {
        underWay.decrementAndGet();
        checkDrained();
    }

    private void checkDrained() {
        Runnable drained = whenDrained;
        if (drained != null && underWay.get() == 0 && open.isEmpty()) {
            drained.run();
        }
    }

    /** Runs the action, perhaps more than once, when nothing is open and no attempt under way. */
    void drain(Runnable action) {
        whenDrained = action;
        checkDrained();
    }

    /** Ends all retries. Returns what could not be settled, for the log. */
    List<String> stop() {
        stopped = true;
        return open.stream().map(Settlement::what).sorted().toList();
    }
}
