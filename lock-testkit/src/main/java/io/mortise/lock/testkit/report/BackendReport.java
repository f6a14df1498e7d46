// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The combined results of all test classes that test one backend.
 *
 * @param classes the reports of the test classes
 * @param rules the state of each rule
 * @param causes the failures, grouped by their probable causes, the most specific rule first
 * @param hookChecks whether the faults took effect
 */
record BackendReport(
        List<ClassReport> classes,
        List<RuleReport> rules,
        List<FailureCause> causes,
        List<FaultEffectCounts> hookChecks) {

    private static final String NOT_RUN = "not part of this run";

    /** The answer of the whole run. */
    enum Verdict {
        KEPT,
        BROKEN,
        NOT_LOOKED_AT;

        String text() {
            return words(this);
        }
    }

    /** The state of one rule. */
    enum State {
        KEPT,
        BROKEN,
        IN_PART,
        NOT_LOOKED_AT,
        NOT_CLAIMED;

        String text() {
            return words(this);
        }
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /**
     * A test that could not check its rule.
     *
     * @param test name of the test
     * @param why the reason
     * @param hook the hook that lets it check the rule; empty if there is none
     * @param accepted whether the run accepts the hole by name
     */
    record Hole(String test, String why, Optional<Hook> hook, boolean accepted) {
        /** Returns what holes are counted by on the console: the missing hook, if there is one. */
        String remedy() {
            return hook.map(Hook::method).orElse(why.equals(NOT_RUN) ? "left out of this run" : "no hook fills it");
        }

        /** Returns the name by which holes of the same kind are counted and accepted. */
        String kind() {
            return hook.map(Hook::shortName).orElse(test);
        }
    }

    /**
     * The tests of one rule.
     *
     * @param checked number of tests that checked it
     * @param total number of tests that the kit has for it and the backend's capabilities
     */
    record RuleReport(Rule rule, State state, int checked, int total, List<Hole> holes) {}

    /**
     * Failures with the same probable cause.
     *
     * @param rule the rule that is probably broken
     * @param title what the failures have in common
     */
    record FailureCause(Rule rule, String title, List<TestResult> failures) {}

    static BackendReport of(List<ClassReport> classes, Set<String> tests) {
        Set<String> accepted =
                classes.stream().flatMap(one -> one.accepted().stream()).collect(Collectors.toSet());
        Map<String, List<TestResult>> byTest = classes.stream()
                .flatMap(one -> one.results().stream())
                .collect(Collectors.groupingBy(TestResult::method, TreeMap::new, Collectors.toList()));
        Map<Rule, Set<String>> testsOfRule = new EnumMap<>(Rule.class);
        Set<String> all = new TreeSet<>(tests);
        all.addAll(byTest.keySet());
        all.forEach(test -> testsOfRule
                .computeIfAbsent(Rule.ofTest(test), rule -> new TreeSet<>())
                .add(test));
        List<RuleReport> rules = new ArrayList<>();
        testsOfRule.forEach((rule, ofRule) -> rules.add(ruleReport(rule, ofRule, byTest, accepted)));
        Map<String, FaultEffectCounts> checks = new TreeMap<>();
        classes.forEach(
                one -> one.hookChecks().forEach(check -> checks.merge(check.fault(), check, FaultEffectCounts::plus)));
        return new BackendReport(
                classes,
                rules,
                causes(classes.stream().flatMap(one -> one.results().stream()).toList()),
                List.copyOf(checks.values()));
    }

    private static RuleReport ruleReport(
            Rule rule, Set<String> tests, Map<String, List<TestResult>> byTest, Set<String> accepted) {
        int checked = 0;
        int notClaimed = 0;
        boolean broken = false;
        List<Hole> holes = new ArrayList<>();
        for (String test : tests) {
            List<TestResult> results = byTest.getOrDefault(test, List.of());
            TestOutcome outcome = results.stream()
                    .map(TestResult::outcome)
                    .max(Comparator.naturalOrder())
                    .orElse(TestOutcome.NOT_RUN);
            switch (outcome) {
                case PASSED -> checked++;
                case FAILED -> {
                    checked++;
                    broken = true;
                }
                case NOT_CLAIMED -> notClaimed++;
                case NOT_RUN, NOT_VERIFIED -> holes.add(hole(rule, test, results, accepted));
            }
        }
        State state;
        if (broken) {
            state = State.BROKEN;
        } else if (notClaimed == tests.size()) {
            state = State.NOT_CLAIMED;
        } else if (checked == 0) {
            state = State.NOT_LOOKED_AT;
        } else {
            state = holes.stream().allMatch(Hole::accepted) ? State.KEPT : State.IN_PART;
        }
        return new RuleReport(rule, state, checked, tests.size() - notClaimed, holes);
    }

    private static Hole hole(Rule rule, String test, List<TestResult> results, Set<String> accepted) {
        Optional<TestResult> notVerified = results.stream()
                .filter(result -> result.outcome() == TestOutcome.NOT_VERIFIED)
                .findFirst();
        Optional<Hook> hook = notVerified
                .map(TestResult::hook)
                .filter(name -> !name.isEmpty())
                .map(Hook::valueOf);
        String why = notVerified.map(TestResult::reason).orElse(NOT_RUN);
        boolean isAccepted = accepted.contains(rule.name().toLowerCase(Locale.ROOT))
                || accepted.contains(rule.label().toLowerCase(Locale.ROOT))
                || accepted.contains(test.toLowerCase(Locale.ROOT))
                || hook.map(one -> accepted.contains(one.shortName().toLowerCase(Locale.ROOT)))
                        .orElse(false);
        return new Hole(test, why.replaceFirst("^NOT VERIFIED: ", ""), hook, isAccepted);
    }

    /** Groups assertions by the rule that they name, and other exceptions by their class and text. */
    private static List<FailureCause> causes(List<TestResult> results) {
        Map<String, FailureCause> causes = new LinkedHashMap<>();
        for (TestResult result : results) {
            if (result.outcome() == TestOutcome.FAILED) {
                Optional<Rule> named = Rule.inMessage(result.failure());
                Rule rule = named.orElseGet(result::rule);
                boolean assertion = isAssertion(result);
                String title = assertion
                        ? rule.label() + " " + rule.title()
                        : simpleName(result.exception()) + ": "
                                + result.failure()
                                        .lines()
                                        .findFirst()
                                        .orElse("")
                                        .replaceAll("\\d+|\\b[0-9a-f]{8,}\\b", "#");
                causes.computeIfAbsent(title, key -> new FailureCause(rule, key, new ArrayList<>()))
                        .failures()
                        .add(result);
            }
        }
        return causes.values().stream()
                .sorted(Comparator.comparing((FailureCause cause) -> isAssertion(cause))
                        .reversed()
                        .thenComparing(FailureCause::rule, Rule.MOST_SPECIFIC_FIRST))
                .toList();
    }

    private static boolean isAssertion(FailureCause cause) {
        return cause.failures().stream().anyMatch(BackendReport::isAssertion);
    }

    private static boolean isAssertion(TestResult result) {
        return result.exception().endsWith("Error");
    }

    private static String simpleName(String className) {
        return className.replaceFirst("^.*[.$]", "");
    }

    List<Hole> holes() {
        return rules.stream().flatMap(rule -> rule.holes().stream()).toList();
    }

    private List<Hole> openHoles() {
        return holes().stream().filter(hole -> !hole.accepted()).toList();
    }

    List<FaultEffectCounts> contradictedHooks() {
        return hookChecks.stream().filter(FaultEffectCounts::hasNoEffect).toList();
    }

    int checked() {
        return rules.stream().mapToInt(RuleReport::checked).sum();
    }

    int total() {
        return rules.stream().mapToInt(RuleReport::total).sum();
    }

    int failures() {
        return causes.stream().mapToInt(cause -> cause.failures().size()).sum();
    }

    /** Returns the verdict: kept only if every test that applies was run, or its hole is accepted by name. */
    Verdict verdict() {
        if (!causes.isEmpty()) {
            return Verdict.BROKEN;
        }
        return openHoles().isEmpty() && contradictedHooks().isEmpty() && checked() > 0
                ? Verdict.KEPT
                : Verdict.NOT_LOOKED_AT;
    }

    /** Returns the five lines with which a test class ends on the console. */
    List<String> console(Path page) {
        String description = PrintableText.name(classes.get(0).backend().description());
        String broken = causes.isEmpty()
                ? "none"
                : causes.stream()
                        .map(cause -> cause.title() + " (" + cause.failures().size() + ")")
                        .collect(Collectors.joining(", "));
        return List.of(
                "Conformance of " + description + ": "
                        + verdict().text().toUpperCase(Locale.ROOT)
                        + contradictedHooks().stream()
                                .map(check -> ", hook without effect: " + check.fault())
                                .collect(Collectors.joining()),
                "  checked: " + checked() + " of " + total() + " tests; failed: " + failures() + "; not claimed: "
                        + notClaimed(),
                "  broken:  " + broken,
                "  holes:   " + holeSummary(holes()),
                "  report:  " + page.toAbsolutePath());
    }

    private long notClaimed() {
        return classes.stream()
                .flatMap(one -> one.results().stream())
                .filter(result -> result.outcome() == TestOutcome.NOT_CLAIMED)
                .map(TestResult::method)
                .distinct()
                .count();
    }

    /** Returns what holes there are, by the hook that would fill them. */
    private static String holeSummary(List<Hole> holes) {
        if (holes.isEmpty()) {
            return "none";
        }
        Map<String, List<Hole>> byKind =
                holes.stream().collect(Collectors.groupingBy(Hole::remedy, TreeMap::new, Collectors.toList()));
        return byKind.entrySet().stream()
                .map(kind -> kind.getKey() + " (" + kind.getValue().size() + " tests of "
                        + kind.getValue().stream()
                                .map(hole -> Rule.ofTest(hole.test()).label())
                                .distinct()
                                .collect(Collectors.joining(" "))
                        + (kind.getValue().stream().allMatch(Hole::accepted) ? ", accepted" : "") + ")")
                .collect(Collectors.joining("; "));
    }

    /** Returns why a strict run fails; empty if all holes are accepted by name. */
    Optional<String> strictFailure() {
        List<String> problems = new ArrayList<>();
        List<Hole> open = openHoles();
        if (!open.isEmpty()) {
            problems.add("holes that " + ConformanceReportSettings.ACCEPT + " does not name: " + holeSummary(open)
                    + "; to accept them: "
                    + "-D" + ConformanceReportSettings.ACCEPT + "="
                    + open.stream().map(Hole::kind).distinct().sorted().collect(Collectors.joining(",")));
        }
        contradictedHooks()
                .forEach(check -> problems.add("the hook for " + check.fault() + " has no effect: " + check.example()));
        return problems.isEmpty() ? Optional.empty() : Optional.of("strict run: " + String.join("; ", problems));
    }

    /** Returns all measured durations of one kind, in microseconds, in ascending order. */
    List<Long> timings(String name) {
        return classes.stream()
                .flatMap(one -> one.timings().getOrDefault(name, List.of()).stream())
                .sorted()
                .toList();
    }

    /** Returns the hooks that at least one test missed. */
    Set<Hook> missedHooks() {
        return holes().stream().flatMap(hole -> hole.hook().stream()).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the hooks that the backend implements and no test missed. */
    Set<Hook> presentHooks() {
        Set<Hook> present = Arrays.stream(Hook.values())
                .filter(hook ->
                        classes.stream().anyMatch(one -> one.backend().hooks().contains(hook.name())))
                .collect(Collectors.toCollection(TreeSet::new));
        present.removeAll(missedHooks());
        return present;
    }
}
