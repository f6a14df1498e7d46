// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import com.samskivert.mustache.Mustache;
import com.samskivert.mustache.Template;
import io.mortise.lock.Capability;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Renders reports as self-contained HTML pages, from the templates beside this class. */
final class ReportPage {
    private ReportPage() {}

    /** Returns the page of a module's report. */
    static String html(CombinedReport report) {
        List<Map<String, Object>> backends = new ArrayList<>();
        for (CombinedReport.BackendEntry entry : report.backends()) {
            backends.add(backend(entry.description(), entry.report()));
        }
        String titles = report.backends().stream()
                .map(entry -> PrintableText.of(entry.description()) + ": " + entry.verdict())
                .collect(Collectors.joining(", "));
        return template("report.html").execute(Map.of("title", titles, "style", style(), "backends", backends));
    }

    static String style() {
        return read("report.css");
    }

    static Template template(String name) {
        return Mustache.compiler()
                .escapeHTML(true)
                .defaultValue("")
                .emptyStringIsFalse(true)
                .compile(read(name));
    }

    private static String read(String name) {
        try (InputStream in = Objects.requireNonNull(ReportPage.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, Object> backend(String description, BackendReport report) {
        ClassReport latest = report.classes().get(report.classes().size() - 1);
        BackendFacts facts = latest.backend();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("description", PrintableText.of(description));
        view.put("verdict", report.verdict().text());
        view.put("verdictClass", cssClass(report.verdict().text()));
        view.put("verdictText", verdictText(report));
        view.put(
                "facts",
                List.of(
                        fact("Backend under test", facts.backendClass()),
                        fact(
                                "Test classes",
                                report.classes().stream()
                                        .map(one -> one.testClass().replaceFirst("^.*\\.", ""))
                                        .collect(Collectors.joining(", "))),
                        fact("Mortise", latest.mortise()),
                        fact("Java", latest.java()),
                        fact("System", latest.system()),
                        fact("Date", latest.date().replace('T', ' ').replace("Z", " UTC")),
                        fact("Lease", seconds(facts.leaseMillis())),
                        fact("Takeover within", seconds(facts.takeoverMillis())),
                        fact(
                                "Capabilities",
                                facts.capabilities().isEmpty() ? "none" : String.join(", ", facts.capabilities())),
                        fact("Hooks present", names(List.copyOf(report.presentHooks()))),
                        fact("Hooks missing", names(missing(report)))));
        view.put("rules", report.rules().stream().map(ReportPage::rule).toList());
        view.put("capabilities", capabilities(facts));
        view.put("hookHoles", hookHoles(report));
        view.put("hasFailures", !report.causes().isEmpty());
        view.put("causes", report.causes().stream().map(ReportPage::cause).toList());
        view.put("timings", timings(report, facts));
        view.put(
                "hookChecks",
                report.hookChecks().stream().map(ReportPage::hookCheck).toList());
        view.put("hasHookChecks", !report.hookChecks().isEmpty());
        view.put("beyond", beyond());
        return view;
    }

    private static Map<String, Object> fact(String name, String value) {
        return Map.of("name", name, "value", PrintableText.of(value));
    }

    private static String names(List<Hook> hooks) {
        return hooks.isEmpty() ? "none" : hooks.stream().map(Hook::method).collect(Collectors.joining(", "));
    }

    private static List<Hook> missing(BackendReport report) {
        return Arrays.stream(Hook.values())
                .filter(hook -> !report.presentHooks().contains(hook))
                .toList();
    }

    private static String verdictText(BackendReport report) {
        int holes = report.holes().size();
        long accepted =
                report.holes().stream().filter(BackendReport.Hole::accepted).count();
        String counts = report.checked() + " of " + report.total() + " tests checked their rule";
        String without = holes == 0
                ? "."
                : "; " + holes + " could not" + (accepted > 0 ? ", " + accepted + " of them accepted by name." : ".");
        return switch (report.verdict()) {
            case KEPT -> counts + without + " None failed.";
            case BROKEN ->
                report.failures() + (report.failures() == 1 ? " test" : " tests") + " failed. " + counts + without;
            case NOT_LOOKED_AT -> "No test failed, but not every test could look at its rule. " + counts + without;
        };
    }

    private static Map<String, Object> rule(BackendReport.RuleReport rule) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("label", rule.rule().label());
        view.put("title", rule.rule().subtitle());
        view.put("state", rule.state().text());
        view.put("stateClass", cssClass(rule.state().text()));
        view.put("checked", rule.checked());
        view.put("total", rule.total());
        view.put("hasHoles", !rule.holes().isEmpty());
        view.put("hidden", rule.rule().hiddenDefect());
        view.put("holeCount", rule.holes().size() == 1 ? "1 hole" : rule.holes().size() + " holes");
        view.put(
                "fills",
                rule.holes().stream()
                        .flatMap(hole -> hole.hook().stream())
                        .distinct()
                        .map(Hook::method)
                        .collect(Collectors.joining(", ")));
        view.put(
                "holes",
                rule.holes().stream()
                        .map(hole -> Map.of(
                                "test", hole.test(),
                                "why", PrintableText.of(hole.why()),
                                "fill",
                                        hole.hook()
                                                .map(hook -> "implement " + hook.method())
                                                .orElse(""),
                                "accepted", hole.accepted()))
                        .toList());
        return view;
    }

    private static List<Map<String, Object>> capabilities(BackendFacts facts) {
        List<Map<String, Object>> views = new ArrayList<>();
        for (Capability capability : Capability.values()) {
            boolean claimed = facts.capabilities().contains(capability.name());
            views.add(Map.of("name", capability.name(), "claimed", claimed ? "claimed" : "not claimed"));
        }
        return views;
    }

    private static List<Map<String, Object>> hookHoles(BackendReport report) {
        return report.missedHooks().stream()
                .map(hook -> Map.<String, Object>of(
                        "method",
                        hook.method(),
                        "hidden",
                        hook.hiddenDefects(),
                        "count",
                        report.holes().stream()
                                .filter(hole -> hole.hook().filter(hook::equals).isPresent())
                                .count()))
                .toList();
    }

    private static Map<String, Object> cause(BackendReport.FailureCause cause) {
        return Map.of(
                "title",
                PrintableText.of(cause.title()),
                "count",
                cause.failures().size(),
                "meaning",
                "Probably: " + cause.rule().hiddenDefect() + ".",
                "failures",
                cause.failures().stream().map(ReportPage::failure).toList());
    }

    private static Map<String, Object> failure(TestResult failure) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("test", failure.display());
        view.put("message", failure.failure().strip());
        view.put("stack", String.join("\n", failure.stack()));
        view.put("hasEvents", failure.events().size() > 1);
        view.put("picture", FailurePicture.of(failure.events()));
        view.put("events", failure.events().stream().map(LockEvent::toString).collect(Collectors.joining("\n")));
        return view;
    }

    private static List<Map<String, Object>> timings(BackendReport report, BackendFacts facts) {
        List<Map<String, Object>> views = new ArrayList<>();
        views.add(timing(report, TestRecorder.ACQUIRE, "Acquire of a free lock, round trip", ""));
        views.add(timing(report, TestRecorder.RENEW, "Renewal, round trip", ""));
        views.add(timing(report, TestRecorder.RELEASE, "Release, round trip", ""));
        views.add(timing(
                report,
                TestRecorder.TAKEOVER,
                "From the fault of a holder to the next grant",
                "must be below " + seconds(facts.takeoverMillis())));
        views.add(timing(
                report,
                TestRecorder.NOTICE,
                "From the notice of a loss to the next grant",
                "below zero only where this JVM stalled: isHeld() is false from the deadline on"));
        return views;
    }

    private static Map<String, Object> timing(BackendReport report, String name, String title, String bound) {
        List<Long> micros = report.timings(name);
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("title", title);
        view.put("bound", bound);
        view.put("count", micros.size());
        view.put("least", micros.isEmpty() ? "not measured" : time(micros.get(0)));
        view.put("median", micros.isEmpty() ? "" : time(micros.get(micros.size() / 2)));
        view.put("most", micros.isEmpty() ? "" : time(micros.get(micros.size() - 1)));
        return view;
    }

    private static Map<String, Object> hookCheck(FaultEffectCounts check) {
        String state = check.hasNoEffect() ? "no effect" : check.confirmed() > 0 ? "took effect" : "not seen";
        return Map.of(
                "fault",
                check.fault(),
                "state",
                state,
                "stateClass",
                check.hasNoEffect() ? "broken" : check.confirmed() > 0 ? "kept" : "in-part",
                "counts",
                check.confirmed() + " times seen to take effect, " + check.contradicted() + " times not, "
                        + check.unseen() + " times neither",
                "example",
                PrintableText.of(check.example()));
    }

    /** Returns the section about what no test kit that runs for minutes on one machine can show. */
    private static List<Map<String, Object>> beyond() {
        List<Map<String, Object>> views = new ArrayList<>(
                List.of(
                        Map.of(
                                "title",
                                "Clocks",
                                "text",
                                "The store's clock and those of the clients ran on one machine. Set the store's clock forward and back, and let it drift."),
                        Map.of(
                                "title",
                                "Data loss",
                                "text",
                                "No acknowledged write was lost. Kill the store without a sync, fail over to a replica, restore a backup."),
                        Map.of(
                                "title",
                                "Memory of the store",
                                "text",
                                "Keys were counted only where LockAdmin lists them. Watch the store's own memory, subscriptions and watches over days.")));
        for (Rule rule : Rule.values()) {
            if (!rule.beyondTheKit().isEmpty()) {
                views.add(Map.of("title", rule.label(), "text", rule.beyondTheKit()));
            }
        }
        return views;
    }

    static String cssClass(String state) {
        return state.replace(' ', '-');
    }

    private static String seconds(long millis) {
        return millis == 0 ? "unknown" : trimmed(millis / 1e3) + " s";
    }

    private static String time(long micros) {
        return Math.abs(micros) < 1_000_000 ? trimmed(micros / 1e3) + " ms" : trimmed(micros / 1e6) + " s";
    }

    private static String trimmed(double value) {
        return String.format(Locale.ROOT, "%.2f", value).replaceFirst("\\.?0+$", "");
    }
}
