// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One thing that happened. An event says no more than its recorder can know: its {@link #at()} begins before the thing was
 * done and ends after it.
 */
public sealed interface Event {
    /** To whom it happened. */
    String process();

    /** When. */
    Span at();

    /** One line of text without a line break, whatever the names are; {@link #parse} reads it. */
    default String line() {
        return EventLine.write(this);
    }

    /**
     * Reads what {@link #line()} wrote.
     *
     * @throws IllegalArgumentException if it is no such line
     */
    static Event parse(String line) {
        return EventLine.read(line, Span.at(0));
    }

    /** Something that happened to one call for a lock. */
    sealed interface OfCall extends Event {
        /** Which call. */
        Call call();

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
    record Asked(Call call, Span at, Optional<Duration> limit) implements OfCall {}

    /**
     * The lease was returned to the caller.
     *
     * @param token empty without FENCING
     */
    record Granted(Call call, Span at, OptionalLong token) implements OfCall {}

    /** {@code isHeld()} was called. */
    record Looked(Call call, Span at, boolean held) implements OfCall {}

    /** {@code lost()} completed. */
    record Told(Call call, Span at, String reason) implements OfCall {}

    /** It is about to release. */
    record Releasing(Call call, Span at) implements OfCall {}

    /** The release returned. */
    record Released(Call call, Span at, ReleaseOutcome outcome) implements OfCall {}

    /**
     * The ask ended without a lease.
     *
     * @param failure empty: its limit was over, or its caller ended it
     */
    record GaveUp(Call call, Span at, Optional<String> failure) implements OfCall {}

    /** The fenced resource decided about a write with this token. */
    record Wrote(Call call, Span at, long token, boolean accepted) implements OfCall {}

    /** Somebody broke or mended a process or its line to the store. */
    record Disturbed(String process, Span at, Kind kind) implements Event {
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
