// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines of all requests on one connection (S15). They get the same time each, so the oldest ends first and one timer
 * serves all: it is set once in a while, not for each request.
 */
final class Deadlines {
    private final LockClock clock;
    private final Duration limit;
    private final Consumer<Call> overdue;
    private final Queue<Call> open = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean armed = new AtomicBoolean();

    /** @param overdue ends the call that had no answer in time */
    Deadlines(LockClock clock, Duration limit, Consumer<Call> overdue) {
        this.clock = clock;
        this.limit = limit;
        this.overdue = overdue;
    }

    /** It is about to be sent. */
    void begin(Call call) {
        open.add(call);
        arm();
    }

    /** Some call has ended: as a rule the oldest. */
    void ended() {
        oldest();
    }

    /** None of those that were begun will be answered; those that begin meanwhile may be. */
    void endAll(Throwable cause) {
        for (Call call : List.copyOf(open)) {
            call.completeExceptionally(cause);
        }
    }

    private @Nullable Call oldest() {
        Call first = open.peek();
        while (first != null && first.isDone()) {
            open.remove(first); // not poll(): another thread may have taken it out just now
            first = open.peek();
        }
        return first;
    }

    private void arm() {
        if (!armed.get() && armed.compareAndSet(false, true)) {
            clock.schedule(limit, this::check);
        }
    }

    private void check() {
        Call first = oldest();
        while (first != null && left(first) <= 0) {
            overdue.accept(first);
            first = oldest(); // not remove(): that one is gone by now, and it would go through all the others
        }
        if (first != null) {
            clock.schedule(Duration.ofNanos(left(first)), this::check);
            return;
        }
        armed.set(false);
        if (!open.isEmpty()) { // one began in between and saw the timer armed
            arm();
        }
    }

    private long left(Call call) {
        return call.sentNanos() + limit.toNanos() - clock.nanoTime();
    }
}
