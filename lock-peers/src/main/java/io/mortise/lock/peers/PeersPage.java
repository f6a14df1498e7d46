// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Writes the page that compares the lock libraries, from the results of all tests. */
final class PeersPage {
    private static final List<String> RULES = List.of(
            "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S10", "S11", "S12", "S13", "S14", "S15",
            "S16", "S17", "S18", "S19");

    private static final String ISSUES = "https://github.com/";

    private final Map<Peer, List<TestVerdict>> verdicts = new LinkedHashMap<>();

    private final Map<Peer, String> dates;

    /**
     * @param results all results of each peer; a peer without results is reported as not run
     * @param dates when all tests were last run on each peer; empty if unknown
     */
    PeersPage(Map<Peer, List<TestRecord>> results, Map<Peer, String> dates) {
        this.dates = Map.copyOf(dates);
        results.forEach((peer, records) -> verdicts.put(
                peer,
                records.stream().map(record -> TestVerdict.of(peer, record)).toList()));
    }

    String markdown() {
        StringBuilder page = new StringBuilder();
        page.append(INTRODUCTION);
        matrix(page);
        configurations(page);
        findings(page);
        neverClaimed(page);
        notChecked(page);
        return page.toString();
    }

    private void matrix(StringBuilder page) {
        page.append("\n## The matrix\n\n");
        page.append("| Peer | ").append(String.join(" | ", RULES)).append(" |\n");
        page.append("|---|").append("---|".repeat(RULES.size())).append("\n");
        verdicts.forEach((peer, all) -> {
            page.append("| `").append(peer.id()).append("` |");
            for (String rule : RULES) {
                page.append(' ').append(all.isEmpty() ? "" : cell(rule, all)).append(" |");
            }
            page.append('\n');
        });
    }

    /** Returns the verdict of a rule with the number of tests that it rests on. */
    private static String cell(String rule, List<TestVerdict> all) {
        List<TestVerdict> tests =
                all.stream().filter(each -> each.record().rule().equals(rule)).toList();
        Verdict verdict = ofRule(tests);
        long checked = count(tests, Verdict.KEPT) + count(tests, Verdict.FAILED);
        long open = tests.stream().filter(TestVerdict::isOpen).count();
        return switch (verdict) {
            case KEPT -> verdict.symbol() + " " + checked + (open == 0 ? "" : " ?" + open);
            case FAILED -> verdict.symbol() + " " + count(tests, Verdict.FAILED) + "/" + checked;
            case NEVER_CLAIMED, NOT_CHECKED -> verdict.symbol();
        };
    }

    /** Returns the verdict of a rule: one failure decides, then one test that was kept. */
    static Verdict ofRule(Collection<TestVerdict> tests) {
        for (Verdict verdict : List.of(Verdict.FAILED, Verdict.KEPT, Verdict.NEVER_CLAIMED)) {
            if (count(tests, verdict) > 0) {
                return verdict;
            }
        }
        return Verdict.NOT_CHECKED;
    }

    private static long count(Collection<TestVerdict> tests, Verdict verdict) {
        return tests.stream().filter(each -> each.verdict() == verdict).count();
    }

    private void configurations(StringBuilder page) {
        page.append(
                "\n## Versions and configurations\n\n| Peer | Lock | Version | Run | Configuration |\n|---|---|---|---|---|\n");
        verdicts.keySet()
                .forEach(peer -> page.append("| `")
                        .append(peer.id())
                        .append("` | ")
                        .append(peer.title())
                        .append(" | ")
                        .append(peer.version())
                        .append(" | ")
                        .append(run(peer))
                        .append(" | ")
                        .append(peer.configuration())
                        .append(" |\n"));
    }

    /** Returns when the peer was run, and on how many tests, since the kit grows. */
    private String run(Peer peer) {
        int tests = verdicts.getOrDefault(peer, List.of()).size();
        String date = dates.getOrDefault(peer, "");
        return tests == 0 ? "not run" : (date.isEmpty() ? "a part" : date) + ", " + tests + " tests";
    }

    private void findings(StringBuilder page) {
        page.append("\n## What failed\n");
        Map<FailureExplanation, Map<Peer, List<TestVerdict>>> found = new LinkedHashMap<>();
        verdicts.forEach((peer, all) -> all.stream()
                .filter(each -> each.verdict() == Verdict.FAILED)
                .forEach(each -> found.computeIfAbsent(each.finding().orElseThrow(), key -> new LinkedHashMap<>())
                        .computeIfAbsent(peer, key -> new ArrayList<>())
                        .add(each)));
        found.forEach((finding, byPeer) -> finding(page, finding, byPeer));
        List<FailureExplanation> others = FailureExplanations.all().stream()
                .filter(each -> each.verdict() == Verdict.FAILED && !found.containsKey(each))
                .toList();
        if (!others.isEmpty()) {
            page.append("\n## Shown by the library's API, but by no test of these runs\n");
            others.forEach(each -> {
                page.append("\n### ").append(each.title()).append("\n\n");
                Set<String> titles = verdicts.keySet().stream()
                        .filter(each.peers())
                        .map(Peer::title)
                        .collect(Collectors.toCollection(LinkedHashSet::new));
                page.append(String.join(", ", titles))
                        .append(".\n\n")
                        .append(each.text().strip())
                        .append("\n");
                source(page, each);
            });
        }
    }

    private static void finding(StringBuilder page, FailureExplanation finding, Map<Peer, List<TestVerdict>> byPeer) {
        page.append("\n### ").append(finding.title()).append("\n\n");
        page.append(finding.text().strip()).append("\n\n");
        byPeer.forEach((peer, tests) -> {
            page.append("- `").append(peer.id()).append("`: ");
            page.append(tests.stream()
                    .map(each -> "`" + each.record().name() + "` ("
                            + each.record().failures() + " of " + each.record().runs() + " runs)")
                    .collect(Collectors.joining(", ")));
            page.append('\n');
        });
        TestRecord example = byPeer.values().iterator().next().get(0).record();
        page.append("\n```\n").append(history(example)).append("\n```\n");
        source(page, finding);
    }

    private static void source(StringBuilder page, FailureExplanation finding) {
        page.append("\nBy the library's own API: `")
                .append(finding.reproduction())
                .append("`.");
        page.append(finding.issue()
                .map(issue -> " See [" + issue.replace(ISSUES, "").replace("/issues/", "#") + "](" + issue + ").")
                .orElse(" We know of no issue about it."));
        page.append('\n');
    }

    /** Returns what the kit and the peer reported in the test. */
    private static String history(TestRecord record) {
        List<String> lines = new ArrayList<>();
        lines.add(record.name() + ": " + record.message());
        record.notes().stream().limit(MAX_NOTES).forEach(note -> lines.add("the peer: " + note));
        return lines.stream()
                .map(line -> line.length() <= MAX_LINE ? line : line.substring(0, MAX_LINE) + " …")
                .collect(Collectors.joining("\n"));
    }

    private static final int MAX_NOTES = 3;
    private static final int MAX_LINE = 500;

    private void neverClaimed(StringBuilder page) {
        page.append("\n## What was never claimed\n\n");
        page.append(
                "Each line is a promise that tests of the kit need and that the library's documentation does not make.\n");
        reasons(page, Verdict.NEVER_CLAIMED);
    }

    private void notChecked(StringBuilder page) {
        page.append("\n## What was not checked\n\n");
        page.append("Each line is a reason why tests say nothing; it counts neither for nor against the library.\n");
        reasons(page, Verdict.NOT_CHECKED);
        page.append("\n## What failed once\n\n");
        page.append(
                "These tests failed while others ran on the same machine, and passed alone. They count as kept; a race may hide here.\n");
        reasons(page, Verdict.KEPT);
    }

    /** Groups the tests by reason, and the peers by equal lists of tests. */
    private void reasons(StringBuilder page, Verdict verdict) {
        Map<String, Map<String, Set<String>>> rulesByPeerByReason = new TreeMap<>();
        verdicts.forEach((peer, all) -> all.stream()
                .filter(each -> each.verdict() == verdict && !each.reason().isEmpty())
                .filter(each -> !each.record().rule().isEmpty())
                .filter(each -> !each.record().argument().equals("ASYNC"))
                .forEach(each -> rulesByPeerByReason
                        .computeIfAbsent(each.reason(), key -> new LinkedHashMap<>())
                        .computeIfAbsent(peer.id(), key -> new LinkedHashSet<>())
                        .add(detail(each))));
        page.append("\n| Reason | Tests or rules | Peers |\n|---|---|---|\n");
        rulesByPeerByReason.forEach((reason, byPeer) -> {
            Map<Set<String>, List<String>> peersByRules = new LinkedHashMap<>();
            byPeer.forEach((peer, rules) -> peersByRules
                    .computeIfAbsent(rules, key -> new ArrayList<>())
                    .add(peer));
            peersByRules.forEach((rules, peers) -> page.append("| ")
                    .append(reason.replace("|", "\\|"))
                    .append(" | ")
                    .append(String.join(", ", rules))
                    .append(" | ")
                    .append(
                            peers.size() == ran()
                                    ? "all"
                                    : peers.stream()
                                            .map(peer -> "`" + peer + "`")
                                            .collect(Collectors.joining(", ")))
                    .append(" |\n"));
        });
    }

    /** Returns the rule, or the test if it failed without a confirmed cause. */
    private static String detail(TestVerdict each) {
        return each.isOpen() || each.verdict() == Verdict.KEPT
                ? "`" + each.record().name() + "`"
                : each.record().rule();
    }

    private long ran() {
        return verdicts.values().stream().filter(all -> !all.isEmpty()).count();
    }

    private static final String INTRODUCTION = """
            # Other libraries under the kit

            `lock-peers` presents locks of other libraries to [the conformance kit](conformance.md) by thin adapters, which add nothing
            that the library does not offer. `./peers` runs the kit against all of them, each on real servers, and writes this page;
            `./peers NAME` runs one of them again. The rules are those of [Mortise](semantics.md): the other libraries made other
            promises, often on purpose, and this page judges them by theirs.

            | Sign | Means |
            |---|---|
            | ✔ n | kept: n tests of the rule passed; ?m: m more failed, and nobody has explained it yet |
            | ✘ n/m | failed: n of m tests showed that the library breaks a promise of its own documentation |
            | – | never claimed: the library's documentation makes no such promise, so the tests do not apply |
            | ? | not checked: the adapter or the kit has no means, or a failure has not been explained yet |

            A failure appears here as ✘ only if somebody has explained it from the library's source, and a test in `lock-peers` shows the same by the
            library's own API, without the kit and without the adapter. Failed
            tests are repeated alone, since a busy machine can be the cause.

            How the adapters work, in the libraries' favour:

            - They use the blocking API. Since most of these locks belong to a thread, each lock has a thread of its own; an interrupt of the caller
              interrupts that thread. Asynchronous tests are left out.
            - They have locks alone: tests of elections, groups of locks and delayed releases, which some of the libraries offer as well, are left out.
            - A lock counts as held until it is released, or until the library reports a loss. After a fault, a test that asks whether the
              lock is still held is left out, unless the library claims to know.
            - A release that the library cannot report as late counts as reported.
            - Bounds of 50 ms are Mortise's own. A wait counts as too long only if it exceeds its limit by 3 s.
            - Timeouts of leases and sessions are short, so that the tests end.
            """;
}
