// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sections of the conformance report, in order: one for each rule of docs/semantics.md, and two for tests that belong to
 * no rule.
 *
 * <p>A rule with a low {@link #breadth} is specific: its failure explains others. A broken S13 makes tests of S1 fail, not the
 * other way round.
 */
enum Rule {
    S01(
            "Exclusion",
            19,
            "two holders at once",
            "clocks that drift by more than 1 %, a store that loses acknowledged writes, a failover"),
    S02(
            "Honest isHeld",
            16,
            "a holder that considers its lease valid when the store has already granted the lock again",
            "a suspended machine"),
    S03(
            "Fencing",
            6,
            "a token that does not increase, so that a late write is accepted",
            "a store restored from a backup"),
    S04(
            "The owner is the lease",
            17,
            "a lease that belongs to a thread, or a lock that lets its holder in twice",
            "the warning in the log"),
    S05(
            "Release touches only its own grant",
            7,
            "a release that frees the successor's lock, or reports the wrong outcome",
            ""),
    S06("Renewal never resurrects", 5, "a renewal or a late reply that revives a lost lease", ""),
    S07("Loss is announced", 14, "a holder that is told late, twice or never", ""),
    S08(
            "Unknown outcomes are cleaned up",
            9,
            "a grant that nobody owns, which blocks the lock until it expires",
            "a request that the store executes minutes late"),
    S09("Waiting is bounded", 15, "a wait that outlasts its limit, or reports busy without a reply", ""),
    S10(
            "Interrupt and cancel",
            8,
            "a cancelled wait that returns late, or leaves an entry in the queue",
            "subscriptions and watches as the store counts them"),
    S11("Woken, not polling", 18, "a waiter that is never woken, or that polls", ""),
    S12(
            "Fair order",
            10,
            "waiters that overtake each other, or stand behind a dead one",
            "contenders of other programs"),
    S13("Names", 1, "two names that share a lock, or a name that collides with a key of the backend", ""),
    S14(
            "Bad input is refused early",
            2,
            "a bad value that reaches the store, or a message that does not name it",
            "URL parameters of the backend"),
    S15(
            "An outage is an error, not a wait",
            13,
            "a silent store that is reported as a busy lock, or a wait that never ends",
            ""),
    S16("Close is bounded", 11, "a close that hangs, leaks threads, or keeps its locks", "what the log says"),
    S17(
            "Nothing grows",
            12,
            "memory, threads or keys that grow with each name that was ever used",
            "memory use of the store"),
    S18("Operators can see", 4, "a holder or a waiter that operators do not see", "the store's own tools"),
    S19(
            "Trust",
            3,
            "a name or stored text that forges a line of the log",
            "secrets and names in messages, forged entries"),
    CAPABILITIES("Capabilities", 20, "a capability that is claimed and not kept", ""),
    CALL("run, call and callAsync", 21, "a body that runs without the lease, or a lease that outlives its body", "");

    private static final Pattern IN_TEST_NAME = Pattern.compile("^(S\\d\\d)_");
    private static final Pattern IN_MESSAGE = Pattern.compile("(?:^|\\[)(S\\d\\d?)\\b");

    /** Orders rules from the most specific to the most general one. */
    static final Comparator<Rule> MOST_SPECIFIC_FIRST = Comparator.comparingInt(rule -> rule.breadth);

    private final String title;
    private final int breadth;
    private final String hiddenDefect;
    private final String beyondTheKit;

    Rule(String title, int breadth, String hiddenDefect, String beyondTheKit) {
        this.title = title;
        this.breadth = breadth;
        this.hiddenDefect = hiddenDefect;
        this.beyondTheKit = beyondTheKit;
    }

    String title() {
        return title;
    }

    /** Returns the title, for a place that shows the label too; empty if that is the same. */
    String subtitle() {
        return label().equals(title) ? "" : title;
    }

    /** Returns the defect that stays hidden where the rule is not checked. */
    String hiddenDefect() {
        return hiddenDefect;
    }

    /** Returns what no test of the kit can check; empty if there is nothing. */
    String beyondTheKit() {
        return beyondTheKit;
    }

    /** Returns the name in the report, such as S1. */
    String label() {
        if (this == CAPABILITIES || this == CALL) {
            return title;
        }
        return name().replaceFirst("^S0", "S");
    }

    /** Returns the rule after which the test is named; tests of capabilities and calls are named after no rule. */
    static Rule ofTest(String method) {
        Matcher matcher = IN_TEST_NAME.matcher(method);
        if (matcher.find()) {
            return named(matcher.group(1)).orElse(CALL);
        }
        return method.startsWith("capabilities") ? CAPABILITIES : CALL;
    }

    /** Returns the rule that the message of a failed assertion names; empty if it names none. */
    static Optional<Rule> inMessage(String message) {
        Matcher matcher = IN_MESSAGE.matcher(message);
        return matcher.find() ? named(matcher.group(1)) : Optional.empty();
    }

    private static Optional<Rule> named(String name) {
        return Arrays.stream(values())
                .filter(rule -> rule.name().equals(name) || rule.label().equals(name))
                .findFirst();
    }
}
