// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Builds a history of one lock event by event, with times in milliseconds. */
final class HandwrittenHistory {
    static final HistoryCheckTolerances LIMITS = new HistoryCheckTolerances(
            Duration.ofMillis(1_000), Duration.ofMillis(5_000), Duration.ofMillis(500), Duration.ofMillis(500));

    private static final long MILLI = 1_000_000;

    private final List<HistoryEvent> events = new ArrayList<>();
    private long calls;

    HistoryReport check() {
        return new HistoryChecker(LIMITS).check(events);
    }

    void isGood() {
        assertThat(check().violations()).isEmpty();
    }

    /** Asserts that the history breaks exactly these rules. */
    void breaks(String... rules) {
        assertThat(check().violations()).extracting(RuleViolation::rule).containsOnly(rules);
    }

    /** Adds an acquire call of a process; returns a builder for its further events. */
    CallBuilder acquires(String process, long ms) {
        return acquires(process, ms, Optional.empty());
    }

    CallBuilder acquires(String process, long ms, Optional<Duration> limit) {
        CallBuilder builder = new CallBuilder(new AcquireCallId(process, "x", ++calls), 0);
        events.add(new HistoryEvent.Requested(builder.call, builder.at(ms), limit));
        return builder;
    }

    HandwrittenHistory disturbed(String process, Disturbed.Kind kind, long ms) {
        events.add(new Disturbed(process, UncertainInstant.at(ms * MILLI), kind));
        return this;
    }

    /** Adds a call whose lease was held from one instant to the other, and was checked at both. */
    CallBuilder held(String process, long token, long from, long to) {
        return acquires(process, from - 1)
                .granted(from, token)
                .checks(from, true)
                .checks(to, true)
                .released(to, to + 1, ReleaseOutcome.RELEASED);
    }

    final class CallBuilder {
        private final AcquireCallId call;
        private final long uncertainty;

        private CallBuilder(AcquireCallId call, long uncertainty) {
            this.call = call;
            this.uncertainty = uncertainty;
        }

        /** Makes the instants of all further events uncertain by that many milliseconds in both directions. */
        CallBuilder withUncertainty(long ms) {
            return new CallBuilder(call, ms);
        }

        CallBuilder granted(long ms, long token) {
            return add(new HistoryEvent.Granted(call, at(ms), OptionalLong.of(token)));
        }

        CallBuilder grantedWithoutToken(long ms) {
            return add(new HistoryEvent.Granted(call, at(ms), OptionalLong.empty()));
        }

        CallBuilder checks(long ms, boolean held) {
            return add(new HistoryEvent.Checked(call, at(ms), held));
        }

        /** Adds a check that lasted from one instant to the other. */
        CallBuilder checks(long from, long to, boolean held) {
            return add(new HistoryEvent.Checked(call, new UncertainInstant(from * MILLI, to * MILLI), held));
        }

        CallBuilder lost(long ms) {
            return add(new HistoryEvent.LossReported(call, at(ms), "EXPIRED"));
        }

        CallBuilder released(long from, long to, ReleaseOutcome outcome) {
            return add(new HistoryEvent.Releasing(call, at(from)))
                    .add(new HistoryEvent.Released(call, at(to), outcome));
        }

        CallBuilder gaveUp(long ms) {
            return add(new HistoryEvent.GaveUp(call, at(ms), Optional.empty()));
        }

        CallBuilder failed(long ms) {
            return add(new HistoryEvent.GaveUp(call, at(ms), Optional.of("unreachable")));
        }

        CallBuilder wrote(long ms, long token, boolean accepted) {
            return add(new HistoryEvent.Wrote(call, at(ms), token, accepted));
        }

        private UncertainInstant at(long ms) {
            return new UncertainInstant((ms - uncertainty) * MILLI, (ms + uncertainty) * MILLI);
        }

        private CallBuilder add(HistoryEvent event) {
            events.add(event);
            return this;
        }
    }
}
