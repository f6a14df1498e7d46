// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.KILLED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.PAUSED;

import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Kinds of damage to a good history, each with the rules of which the checker must report one. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas and sets are not modified
enum HistoryDamage {
    DUPLICATE_TOKEN(
            edit -> edit.pair(any -> true)
                    .map(pair -> edit.replace(
                            pair.next(),
                            new HistoryEvent.Granted(
                                    pair.next().call(),
                                    pair.next().at(),
                                    pair.one().token()))),
            "S3"),
    TOKENS_SWAPPED(
            edit -> edit.grant()
                    .flatMap(one -> edit.grant()
                            .filter(other -> edit.of(other.call(), HistoryEvent.Requested.class)
                                    .filter(requested -> one.at().isBefore(requested.at()))
                                    .isPresent())
                            .map(other -> edit.replace(
                                            one, new HistoryEvent.Granted(one.call(), one.at(), other.token()))
                                    .replace(other, new HistoryEvent.Granted(other.call(), other.at(), one.token())))),
            "S3"),
    HELD_AFTER_THE_NEXT_GRANT(
            edit -> edit.pair(any -> true)
                    .map(pair -> edit.with(new HistoryEvent.Checked(
                            pair.one().call(), pair.next().at().later(Duration.ofMillis(20)), true))),
            "S1",
            "S2",
            "S6"),
    HELD_BEFORE_ITS_GRANT(
            edit -> edit.pair(any -> true).flatMap(pair -> {
                List<HistoryEvent.Checked> checks = edit.all(
                        HistoryEvent.Checked.class,
                        check -> check.held() && check.call().equals(pair.one().call()));
                long first = checks.stream()
                        .mapToLong(check -> check.at().latest())
                        .min()
                        .orElse(1);
                long last = checks.stream()
                        .mapToLong(check -> check.at().earliest())
                        .max()
                        .orElse(0);
                return first > last
                        ? Optional.empty()
                        : Optional.of(edit.with(
                                new HistoryEvent.Checked(pair.next().call(), new UncertainInstant(first, last), true)));
            }),
            "S1"),
    LOST_REPORTED_AS_RELEASED(
            edit -> edit.pair(pair -> edit.of(pair.one().call(), HistoryEvent.Releasing.class)
                            .filter(releasing -> pair.next().at().isBefore(releasing.at()))
                            .isPresent())
                    .flatMap(pair -> edit.of(pair.one().call(), HistoryEvent.Released.class))
                    .map(released -> edit.replace(
                            released,
                            new HistoryEvent.Released(released.call(), released.at(), ReleaseOutcome.RELEASED))),
            "S5"),
    HELD_AGAIN(
            edit -> edit.any(HistoryEvent.LossReported.class, one -> true)
                    .map(lossReported -> edit.with(new HistoryEvent.Checked(
                            lossReported.call(), lossReported.at().later(Duration.ofMillis(20)), true))),
            "S6"),
    NEVER_NOTIFIED(
            edit -> edit.pair(pair -> edit.of(pair.one().call(), HistoryEvent.LossReported.class)
                            .filter(lossReported ->
                                    !edit.isDisturbed(lossReported.process(), lossReported.at(), KILLED, PAUSED)
                                            && lossReported
                                                            .at()
                                                            .later(Duration.ofSeconds(2))
                                                            .latest()
                                                    < edit.end())
                            .isPresent())
                    .map(pair -> edit.without(event -> event instanceof HistoryEvent.OfCall of
                            && of.call().equals(pair.one().call())
                            && !(event instanceof HistoryEvent.Requested)
                            && !(event instanceof HistoryEvent.Granted))),
            "S7"),
    NO_OUTCOME(
            edit -> edit.any(
                            HistoryEvent.GaveUp.class,
                            one -> !edit.isDisturbed(one.process(), UncertainInstant.at(-1), KILLED))
                    .map(one -> edit.without(one::equals)),
            "S9"),
    OVERSHOOT(
            edit -> edit.any(
                            HistoryEvent.GaveUp.class,
                            one -> !edit.isDisturbed(one.process(), UncertainInstant.at(-1), PAUSED))
                    .map(one -> edit.replace(
                            one,
                            new HistoryEvent.GaveUp(one.call(), one.at().later(Duration.ofSeconds(1)), one.failure()))),
            "S9"),
    STALE_WRITE_ACCEPTED(
            edit -> edit.any(HistoryEvent.Wrote.class, write -> !write.accepted())
                    .map(edit::invert),
            "S3"),
    VALID_WRITE_REJECTED(
            edit -> edit.any(HistoryEvent.Wrote.class, HistoryEvent.Wrote::accepted)
                    .map(edit::invert),
            "S3"),
    NO_WAITER_IS_WOKEN(
            edit -> {
                AcquireCallId call = new AcquireCallId("late", "x", 1);
                UncertainInstant end = UncertainInstant.at(edit.end() + 1);
                return Optional.of(edit.with(new HistoryEvent.Requested(call, end, Optional.empty()))
                        .with(new HistoryEvent.GaveUp(call, end.later(Duration.ofHours(1)), Optional.empty())));
            },
            "S8",
            "S11");

    private final Function<HistoryEdit, Optional<HistoryEdit>> change;
    private final Set<String> rules;

    HistoryDamage(Function<HistoryEdit, Optional<HistoryEdit>> change, String... rules) {
        this.change = change;
        this.rules = Set.of(rules);
    }

    /** Returns the damaged history; empty if this history has no event to which the change applies. */
    Optional<HistoryEdit> to(HistoryEdit good) {
        return change.apply(good);
    }

    boolean isNamedIn(HistoryReport report) {
        return report.violations().stream().map(RuleViolation::rule).anyMatch(rules::contains);
    }
}
