// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the deadlines of all pending requests on one connection. See rule S15. All requests have the same timeout, so the
 * oldest ends first, and a single timer serves all requests that are sent for the first time. It is not set again for each
 * request.
 *
 * <p>After a pause of the process, the timer may run before the I/O thread reads the replies. So no call ends at the first
 * check, only at a second one, {@link #lead} later. A call may end late by that time.
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

    /** @param overdue ends a call that had no reply in time */
    RequestDeadlines(LockClock clock, Duration limit, Consumer<ScriptCall> overdue) {
        this.clock = clock;
        this.limit = limit;
        Duration quarter = limit.dividedBy(4);
        this.lead = Durations.shorter(quarter, LONGEST_LEAD);
        this.untilCheck = limit.minus(lead);
        this.overdue = overdue;
    }

    /** Starts the deadline of a call that is about to be sent; one that is sent again has only the rest of its time. */
    void begin(ScriptCall call) {
        open.add(call);
        Duration remaining = remaining(call, clock.now());
        if (remaining.compareTo(untilCheck) < 0) {
            // The call is queued behind younger ones, so it needs its own timer.
            clock.schedule(remaining, () -> clock.schedule(lead, () -> endAlone(call)));
        } else {
            scheduleCheck();
        }
    }

    private void endAlone(ScriptCall call) {
        if (!call.isDone()) {
            overdue.accept(call);
        }
    }

    /** Removes ended calls from the head of the queue, after a call, usually the oldest, has ended. */
    void ended() {
        oldest();
    }

    /** Fails all calls that were begun so far, which will have no reply; calls that begin meanwhile may have one. */
    void endAll(Throwable cause) {
        for (ScriptCall call : List.copyOf(open)) {
            call.completeExceptionally(cause);
        }
    }

    private @Nullable ScriptCall oldest() {
        ScriptCall first = open.peek();
        while (first != null && first.isDone()) {
            open.remove(first); // not poll(): another thread may have removed this call meanwhile
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
        MonotonicInstant now = clock.now();
        if (first == null) {
            scheduled.set(false);
            if (!open.isEmpty()) { // a call began in between while the timer was still marked as scheduled
                scheduleCheck();
            }
        } else if (remaining(first, now).compareTo(lead) <= 0) {
            clock.schedule(lead, () -> endOverdue(now));
        } else {
            clock.schedule(remaining(first, now).minus(lead), this::check);
        }
    }

    /** Ends the calls that are overdue now and were almost overdue at the first check. */
    private void endOverdue(MonotonicInstant firstCheck) {
        MonotonicInstant now = clock.now();
        ScriptCall first = oldest();
        while (first != null
                && !Durations.isPositive(remaining(first, now))
                && remaining(first, firstCheck).compareTo(lead) <= 0) {
            overdue.accept(first);
            first = oldest(); // not remove(): the call has been removed by now, so remove() would scan all the others
        }
        check();
    }

    private Duration remaining(ScriptCall call, MonotonicInstant now) {
        return limit.minus(call.sentAt().until(now));
    }
}
