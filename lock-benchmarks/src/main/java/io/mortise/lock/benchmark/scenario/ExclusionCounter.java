// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.HeldGrant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Checks mutual exclusion during a benchmark by incrementing a counter that only the lock protects. It also checks that fencing
 * tokens increase. Thread-safe.
 */
final class ExclusionCounter {
    private final String lock;
    private final boolean shared;
    private final AtomicInteger inside = new AtomicInteger();
    private final LongAdder entered = new LongAdder();
    private final AtomicReference<@Nullable String> violation = new AtomicReference<>();

    // Deliberately neither volatile nor synchronized: only the benchmarked lock protects them.
    private long counter;
    private long handOffs;
    private long token = Long.MIN_VALUE;
    private int holder = -1;

    /**
     * Creates a check.
     *
     * @param shared whether several clients compete for the lock; then the holder yields, so that a second holder would show
     */
    ExclusionCounter(String lock, boolean shared) {
        this.lock = lock;
        this.shared = shared;
    }

    /**
     * Records a grant. The caller calls this as soon as {@code client} has the lock.
     *
     * @return whether the lock went from one client to another; the first grant counts as well
     */
    boolean enter(int client, HeldGrant held) {
        int now = inside.incrementAndGet();
        if (now != 1) {
            report(now + " clients held it at the same time");
        }
        entered.increment();
        long seen = counter;
        if (shared) {
            yieldToOthers();
        }
        counter = seen + 1;
        boolean handedOff = client != holder;
        if (handedOff) {
            holder = client;
            handOffs++;
        }
        long before = token;
        held.token().ifPresent(given -> {
            if (given <= before) {
                report("token " + given + " was granted after token " + before);
            }
            token = given;
        });
        return handedOff;
    }

    @SuppressWarnings("ThreadPriorityCheck") // no result depends on it; it only makes a violation more likely to show
    private static void yieldToOthers() {
        Thread.yield();
    }

    /** Records the end of a grant. The caller calls this before it releases the lock. */
    void leave() {
        inside.decrementAndGet();
    }

    /**
     * Returns how often the lock went from one client to another. Only the holder may call this, or any thread while there is
     * no holder.
     */
    long handOffs() {
        return handOffs;
    }

    /**
     * Checks the counter once no client holds the lock any more.
     *
     * @param where name of the round, for the message
     * @throws ExclusionViolationException if mutual exclusion or the order of tokens has been violated since the start
     */
    void verify(String where) {
        if (counter != entered.sum()) {
            report("a counter that only the lock protects lost " + (entered.sum() - counter) + " of " + entered.sum()
                    + " increments");
        }
        String what = violation.get();
        if (what != null) {
            throw new ExclusionViolationException(
                    where + ": mutual exclusion violated on lock \"" + lock + "\": " + what);
        }
    }

    private void report(String what) {
        violation.compareAndSet(null, what);
    }
}
