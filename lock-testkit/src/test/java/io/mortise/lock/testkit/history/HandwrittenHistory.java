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

/** A history of one lock written by hand, in milliseconds. */
final class HandwrittenHistory {
    static final HistoryTimeLimits BOUNDS = new HistoryTimeLimits(
            Duration.ofMillis(1_000), Duration.ofMillis(5_000), Duration.ofMillis(500), Duration.ofMillis(500));

    private static final long MILLI = 1_000_000;

    private final List<HistoryEvent> events = new ArrayList<>();
    private long asks;

    HistoryReport check() {
        return new HistoryChecker(BOUNDS).check(events);
    }

    void isGood() {
        assertThat(check().violations()).isEmpty();
    }

    /** These rules, and no other. */
    void breaks(String... rules) {
        assertThat(check().violations()).extracting(RuleViolation::rule).containsOnly(rules);
    }

    /** One call of a process, from here on. */
    Teller asks(String process, long ms) {
        return asks(process, ms, Optional.empty());
    }

    Teller asks(String process, long ms, Optional<Duration> limit) {
        Teller teller = new Teller(new AcquireCallId(process, "x", ++asks), 0);
        events.add(new HistoryEvent.Asked(teller.call, teller.at(ms), limit));
        return teller;
    }

    HandwrittenHistory disturbed(String process, Disturbed.Kind kind, long ms) {
        events.add(new Disturbed(process, UncertainInstant.at(ms * MILLI), kind));
        return this;
    }

    /** A call that held from one instant to the other, and was checked at both. */
    Teller held(String process, long token, long from, long to) {
        return asks(process, from - 1)
                .granted(from, token)
                .checks(from, true)
                .checks(to, true)
                .released(to, to + 1, ReleaseOutcome.RELEASED);
    }

    final class Teller {
        private final AcquireCallId call;
        private final long blur;

        private Teller(AcquireCallId call, long blur) {
            this.call = call;
            this.blur = blur;
        }

        /** From here on the clock is only known within so many milliseconds to both sides. */
        Teller blurred(long ms) {
            return new Teller(call, ms);
        }

        Teller granted(long ms, long token) {
            return add(new HistoryEvent.Granted(call, at(ms), OptionalLong.of(token)));
        }

        Teller grantedWithoutToken(long ms) {
            return add(new HistoryEvent.Granted(call, at(ms), OptionalLong.empty()));
        }

        Teller checks(long ms, boolean held) {
            return add(new HistoryEvent.Checked(call, at(ms), held));
        }

        /** A check that was under way for so long. */
        Teller checks(long from, long to, boolean held) {
            return add(new HistoryEvent.Checked(call, new UncertainInstant(from * MILLI, to * MILLI), held));
        }

        Teller told(long ms) {
            return add(new HistoryEvent.Told(call, at(ms), "EXPIRED"));
        }

        Teller released(long from, long to, ReleaseOutcome outcome) {
            return add(new HistoryEvent.Releasing(call, at(from)))
                    .add(new HistoryEvent.Released(call, at(to), outcome));
        }

        Teller gaveUp(long ms) {
            return add(new HistoryEvent.GaveUp(call, at(ms), Optional.empty()));
        }

        Teller failed(long ms) {
            return add(new HistoryEvent.GaveUp(call, at(ms), Optional.of("out of reach")));
        }

        Teller wrote(long ms, long token, boolean accepted) {
            return add(new HistoryEvent.Wrote(call, at(ms), token, accepted));
        }

        private UncertainInstant at(long ms) {
            return new UncertainInstant((ms - blur) * MILLI, (ms + blur) * MILLI);
        }

        private Teller add(HistoryEvent event) {
            events.add(event);
            return this;
        }
    }
}
