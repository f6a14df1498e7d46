// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of all pending requests on one connection (S15). They get the same time each, so the oldest ends first and one
 * timer serves all that are sent for the first time: it is set once in a while, not for each request.
 *
 * <p>After a pause of the process the timer may run ahead of the thread that has the answers to read. So nothing ends at the
 * first check, but at a second one, {@link #lead} later; by so much a call may end late.
 */
final class RequestDeadlines {
    private static final Duration LONGEST_LEAD = Duration.ofMillis(20);

    private final LockClock clock;
    private final Duration limit;
    private final Duration lead;
    private final Duration untilCheck;
    private final Consumer<ScriptCall> overdue;
    private final Queue<ScriptCall> open = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    /** @param overdue ends the call that had no answer in time */
    RequestDeadlines(LockClock clock, Duration limit, Consumer<ScriptCall> overdue) {
        this.clock = clock;
        this.limit = limit;
        Duration quarter = limit.dividedBy(4);
        this.lead = Durations.shorter(quarter, LONGEST_LEAD);
        this.untilCheck = limit.minus(lead);
        this.overdue = overdue;
    }

    /** It is about to be sent, perhaps once more, with what is left of its time. */
    void begin(ScriptCall call) {
        open.add(call);
        Duration left = left(call, clock.now());
        if (left.compareTo(untilCheck) < 0) {
            // It is queued behind younger ones.
            clock.schedule(left, () -> clock.schedule(lead, () -> endAlone(call)));
        } else {
            scheduleCheck();
        }
    }

    private void endAlone(ScriptCall call) {
        if (!call.isDone()) {
            overdue.accept(call);
        }
    }

    /** Some call has ended: as a rule the oldest. */
    void ended() {
        oldest();
    }

    /** None of those that were begun will be answered; those that begin meanwhile may be. */
    void endAll(Throwable cause) {
        for (ScriptCall call : List.copyOf(open)) {
            call.completeExceptionally(cause);
        }
    }

    private @Nullable ScriptCall oldest() {
        ScriptCall first = open.peek();
        while (first != null && first.isDone()) {
            open.remove(first); // not poll(): another thread may have taken it out just now
            first = open.peek();
        }
        return first;
    }

    private void scheduleCheck() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            clock.schedule(untilCheck, this::check);
        }
    }

    private void check() {
        ScriptCall first = oldest();
        MonotonicTime now = clock.now();
        if (first == null) {
            scheduled.set(false);
            if (!open.isEmpty()) { // one began in between and saw the timer scheduled
                scheduleCheck();
            }
        } else if (left(first, now).compareTo(lead) <= 0) {
            clock.schedule(lead, () -> endOverdue(now));
        } else {
            clock.schedule(left(first, now).minus(lead), this::check);
        }
    }

    /** Ends what is overdue and was about to be at the first check. */
    private void endOverdue(MonotonicTime firstCheck) {
        MonotonicTime now = clock.now();
        ScriptCall first = oldest();
        while (first != null
                && !Durations.isPositive(left(first, now))
                && left(first, firstCheck).compareTo(lead) <= 0) {
            overdue.accept(first);
            first = oldest(); // not remove(): that one has been removed by now, and it would go through all the others
        }
        check();
    }

    private Duration left(ScriptCall call, MonotonicTime now) {
        return limit.minus(call.sentAt().until(now));
    }
}
