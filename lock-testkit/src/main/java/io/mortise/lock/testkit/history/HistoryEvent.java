// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One event of a history. An event says no more than its recorder can know: its {@link #at()} begins before the thing was done
 * and ends after it.
 */
public sealed interface HistoryEvent {
    /** To whom it happened. */
    String process();

    /** When. */
    UncertainInstant at();

    /** One line of text without a line break, whatever the names are; {@link #parse} reads it. */
    default String line() {
        return EventFormat.write(this);
    }

    /**
     * Reads what {@link #line()} wrote.
     *
     * @throws IllegalArgumentException if it is no such line
     */
    static HistoryEvent parse(String line) {
        return EventFormat.read(line, UncertainInstant.at(0));
    }

    /** Something that happened to one call for a lock. */
    sealed interface OfCall extends HistoryEvent {
        /** Which call. */
        AcquireCallId call();

        @Override
        default String process() {
            return call().process();
        }
    }

    /**
     * It is about to ask.
     *
     * @param limit how long it is ready to wait; empty: without limit
     */
    record Asked(AcquireCallId call, UncertainInstant at, Optional<Duration> limit) implements OfCall {}

    /**
     * The lease was returned to the caller.
     *
     * @param token empty without FENCING
     */
    record Granted(AcquireCallId call, UncertainInstant at, OptionalLong token) implements OfCall {}

    /** {@code isHeld()} was called. */
    record Checked(AcquireCallId call, UncertainInstant at, boolean held) implements OfCall {}

    /** {@code lost()} completed. */
    record Told(AcquireCallId call, UncertainInstant at, String reason) implements OfCall {}

    /** It is about to release. */
    record Releasing(AcquireCallId call, UncertainInstant at) implements OfCall {}

    /** The release returned. */
    record Released(AcquireCallId call, UncertainInstant at, ReleaseOutcome outcome) implements OfCall {}

    /**
     * The ask ended without a lease.
     *
     * @param failure empty: its limit had passed, or its caller ended it
     */
    record GaveUp(AcquireCallId call, UncertainInstant at, Optional<String> failure) implements OfCall {}

    /** The fenced resource decided about a write with this token. */
    record Wrote(AcquireCallId call, UncertainInstant at, long token, boolean accepted) implements OfCall {}

    /** Somebody broke or mended a process or its line to the store. */
    record Disturbed(String process, UncertainInstant at, Kind kind) implements HistoryEvent {
        /** What was done to it. */
        public enum Kind {
            /** SIGSTOP. */
            PAUSED,
            /** SIGCONT. */
            RESUMED,
            /** SIGKILL; nothing of it comes later. */
            KILLED,
            /** Its line to the store was broken, in whatever way. */
            CUT,
            /** Its line is whole again. */
            HEALED
        }
    }
}
