// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.HeldGrant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Checks exclusion while a lock is measured: an unprotected counter, and rising tokens. Thread-safe. */
final class ExclusionCounter {
    private final String lock;
    private final boolean shared;
    private final AtomicInteger inside = new AtomicInteger();
    private final LongAdder entered = new LongAdder();
    private final AtomicReference<@Nullable String> violation = new AtomicReference<>();

    // Plain on purpose: the lock is what guards them.
    private long counter;
    private long handOffs;
    private long token = Long.MIN_VALUE;
    private int holder = -1;

    /** @param shared whether several clients want it: then the holder makes room for whoever would get in beside it */
    ExclusionCounter(String lock, boolean shared) {
        this.lock = lock;
        this.shared = shared;
    }

    /** To be called as soon as {@code client} has the lock. */
    void enter(int client, HeldGrant held) {
        int now = inside.incrementAndGet();
        if (now != 1) {
            report(now + " held it at once");
        }
        entered.increment();
        long seen = counter;
        if (shared) {
            makeRoom();
        }
        counter = seen + 1;
        if (client != holder) {
            holder = client;
            handOffs++;
        }
        long before = token;
        held.token().ifPresent(given -> {
            if (given <= before) {
                report("token " + given + " came after token " + before);
            }
            token = given;
        });
    }

    @SuppressWarnings("ThreadPriorityCheck") // no result depends on it: it only helps a mistake to show
    private static void makeRoom() {
        Thread.yield();
    }

    /** To be called before the lock is given back. */
    void leave() {
        inside.decrementAndGet();
    }

    /** How often the lock went from one client to another; for the holder, or when nobody holds it. */
    long handOffs() {
        return handOffs;
    }

    /**
     * When all have left.
     *
     * @throws ExclusionViolationException if anything was wrong since the start
     */
    void verify(String where) {
        if (counter != entered.sum()) {
            report("a counter without protection lost " + (entered.sum() - counter) + " of " + entered.sum()
                    + " increments");
        }
        String what = violation.get();
        if (what != null) {
            throw new ExclusionViolationException(where + ": no exclusion on lock \"" + lock + "\": " + what);
        }
    }

    private void report(String what) {
        violation.compareAndSet(null, what);
    }
}
