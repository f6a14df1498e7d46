// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One recorded event of a lock test, such as a request, grant, loss, release or write.
 *
 * <p>The recorder cannot know the exact instant: {@link #at()} begins before the event happened and ends after it.
 */
public sealed interface HistoryEvent {
    /** Returns the name of the process to which the event belongs. */
    String process();

    /** Returns the period in which the event happened. */
    UncertainInstant at();

    /** Returns the event as one line of text without a line break, which {@link #parse} reads. */
    default String line() {
        return EventFormat.write(this);
    }

    /**
     * Parses an event that {@link #line()} formatted.
     *
     * @throws IllegalArgumentException if the line is not a formatted event
     */
    static HistoryEvent parse(String line) {
        return EventFormat.read(line, UncertainInstant.at(0));
    }

    /** An event of one call that acquires a lock. */
    sealed interface OfCall extends HistoryEvent {
        /** Returns the id of the call. */
        AcquireCallId call();

        @Override
        default String process() {
            return call().process();
        }
    }

    /**
     * The caller is about to call acquire.
     *
     * @param limit the longest time that the caller waits; empty if it waits without limit
     */
    record Requested(AcquireCallId call, UncertainInstant at, Optional<Duration> limit) implements OfCall {}

    /**
     * A lease was returned to the caller.
     *
     * @param token the fencing token; empty without FENCING
     */
    record Granted(AcquireCallId call, UncertainInstant at, OptionalLong token) implements OfCall {}

    /** A call of {@code isHeld()} returned {@code held}. */
    record Checked(AcquireCallId call, UncertainInstant at, boolean held) implements OfCall {}

    /** The future {@code lost()} completed with a reason. */
    record LossReported(AcquireCallId call, UncertainInstant at, String reason) implements OfCall {}

    /** The caller is about to release the lease. */
    record Releasing(AcquireCallId call, UncertainInstant at) implements OfCall {}

    /** The release returned an outcome. */
    record Released(AcquireCallId call, UncertainInstant at, ReleaseOutcome outcome) implements OfCall {}

    /**
     * The call ended without a lease.
     *
     * @param failure the exception; empty if the limit had passed or the caller cancelled the call
     */
    record GaveUp(AcquireCallId call, UncertainInstant at, Optional<String> failure) implements OfCall {}

    /** The fenced resource accepted or rejected a write with this token. */
    record Wrote(AcquireCallId call, UncertainInstant at, long token, boolean accepted) implements OfCall {}

    /** The test paused, resumed or killed a process, or cut or healed its link to the store. */
    record Disturbed(String process, UncertainInstant at, Kind kind) implements HistoryEvent {
        /** The kind of disturbance, or its end. */
        public enum Kind {
            /** The process was stopped by SIGSTOP. */
            PAUSED,
            /** The process was continued by SIGCONT. */
            RESUMED,
            /** The process was killed by SIGKILL; it records no later events. */
            KILLED,
            /** A fault was injected on the link to the store. */
            CUT,
            /** The fault on the link was removed. */
            HEALED
        }
    }
}
