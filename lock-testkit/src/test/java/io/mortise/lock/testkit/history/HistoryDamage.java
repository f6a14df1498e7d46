// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.KILLED;
import static io.mortise.lock.testkit.history.Event.Disturbed.Kind.PAUSED;

import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** A change to a good history that makes it bad, and the rules of which the checker must then name at least one. */
@SuppressWarnings("ImmutableEnumChecker") // lambdas and sets that nobody changes
enum HistoryDamage {
    TOKEN_TWICE(
            edit -> edit.pair(any -> true)
                    .map(pair -> edit.replace(
                            pair.next(),
                            new Event.Granted(
                                    pair.next().call(),
                                    pair.next().at(),
                                    pair.one().token()))),
            "S3"),
    TOKENS_SWAPPED(
            edit -> edit.grant()
                    .flatMap(one -> edit.grant()
                            .filter(other -> edit.of(other.call(), Event.Asked.class)
                                    .filter(asked -> one.at().isBefore(asked.at()))
                                    .isPresent())
                            .map(other -> edit.replace(one, new Event.Granted(one.call(), one.at(), other.token()))
                                    .replace(other, new Event.Granted(other.call(), other.at(), one.token())))),
            "S3"),
    BELIEF_IN_WHAT_IS_OVER(
            edit -> edit.pair(any -> true)
                    .map(pair -> edit.with(new Event.Checked(
                            pair.one().call(), pair.next().at().later(Duration.ofMillis(20)), true))),
            "S1",
            "S2",
            "S6"),
    BELIEF_BEFORE_ITS_TIME(
            edit -> edit.pair(any -> true).flatMap(pair -> {
                List<Event.Checked> looks = edit.all(
                        Event.Checked.class,
                        check -> check.held() && check.call().equals(pair.one().call()));
                long first = looks.stream()
                        .mapToLong(check -> check.at().latest())
                        .min()
                        .orElse(1);
                long last = looks.stream()
                        .mapToLong(check -> check.at().earliest())
                        .max()
                        .orElse(0);
                return first > last
                        ? Optional.empty()
                        : Optional.of(edit.with(
                                new Event.Checked(pair.next().call(), new UncertainInstant(first, last), true)));
            }),
            "S1"),
    LOST_IS_CALLED_RELEASED(
            edit -> edit.pair(pair -> edit.of(pair.one().call(), Event.Releasing.class)
                            .filter(releasing -> pair.next().at().isBefore(releasing.at()))
                            .isPresent())
                    .flatMap(pair -> edit.of(pair.one().call(), Event.Released.class))
                    .map(released -> edit.replace(
                            released, new Event.Released(released.call(), released.at(), ReleaseOutcome.RELEASED))),
            "S5"),
    HELD_AGAIN(
            edit -> edit.any(Event.Told.class, one -> true)
                    .map(told ->
                            edit.with(new Event.Checked(told.call(), told.at().later(Duration.ofMillis(20)), true))),
            "S6"),
    NEVER_TOLD(
            edit -> edit.pair(pair -> edit.of(pair.one().call(), Event.Told.class)
                            .filter(told -> !edit.suffers(told.process(), told.at(), KILLED, PAUSED)
                                    && told.at().later(Duration.ofSeconds(2)).latest() < edit.end())
                            .isPresent())
                    .map(pair -> edit.without(event -> event instanceof Event.OfCall of
                            && of.call().equals(pair.one().call())
                            && !(event instanceof Event.Asked)
                            && !(event instanceof Event.Granted))),
            "S7"),
    NO_OUTCOME(
            edit -> edit.any(Event.GaveUp.class, one -> !edit.suffers(one.process(), UncertainInstant.at(-1), KILLED))
                    .map(one -> edit.without(one::equals)),
            "S9"),
    OVERSHOOT(
            edit -> edit.any(Event.GaveUp.class, one -> !edit.suffers(one.process(), UncertainInstant.at(-1), PAUSED))
                    .map(one -> edit.replace(
                            one, new Event.GaveUp(one.call(), one.at().later(Duration.ofSeconds(1)), one.failure()))),
            "S9"),
    LATE_WRITE_ACCEPTED(
            edit -> edit.any(Event.Wrote.class, write -> !write.accepted()).map(edit::turn), "S3"),
    GOOD_WRITE_REFUSED(
            edit -> edit.any(Event.Wrote.class, Event.Wrote::accepted).map(edit::turn), "S3"),
    NOBODY_IS_WOKEN(
            edit -> {
                LockCall call = new LockCall("late", "x", 1);
                UncertainInstant end = UncertainInstant.at(edit.end() + 1);
                return Optional.of(edit.with(new Event.Asked(call, end, Optional.empty()))
                        .with(new Event.GaveUp(call, end.later(Duration.ofHours(1)), Optional.empty())));
            },
            "S8",
            "S11");

    private final Function<HistoryEdit, Optional<HistoryEdit>> change;
    private final Set<String> rules;

    HistoryDamage(Function<HistoryEdit, Optional<HistoryEdit>> change, String... rules) {
        this.change = change;
        this.rules = Set.of(rules);
    }

    /** Empty: this history has no place for it there. */
    Optional<HistoryEdit> to(HistoryEdit good) {
        return change.apply(good);
    }

    boolean isNamedIn(HistoryReport report) {
        return report.violations().stream().map(Violation::rule).anyMatch(rules::contains);
    }
}
