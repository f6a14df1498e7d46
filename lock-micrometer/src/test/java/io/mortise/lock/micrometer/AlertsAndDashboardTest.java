// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.jr.ob.JSON;

/**
 * Tests the alert rules and the dashboard in {@code docs/observability} against the output of Prometheus's registry. If
 * {@code promtool} is installed, it also evaluates them.
 */
class AlertsAndDashboardTest {
    private static final Path FOLDER = Path.of("..", "docs", "observability");
    private static final Path RULES = FOLDER.resolve("mortise-alerts.yml");
    private static final Pattern METRIC = Pattern.compile("(mortise_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)(=~?)\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");

    /** Labels that Prometheus adds, and the tag that only an application's mapping of names adds. */
    private static final Set<String> OPTIONAL_LABELS = Set.of("job", "instance", "lock");

    private static List<List<ScrapedLocks.Sample>> scrapes = List.of();

    @TempDir
    private Path folder;

    @BeforeAll
    static void scrape() throws Exception {
        scrapes = ScrapedLocks.scrapes();
    }

    private static Object child(Object parent, String key) {
        return Objects.requireNonNull(((Map<?, ?>) parent).get(key), key);
    }

    private static List<?> list(Object parent, String key) {
        return (List<?>) child(parent, key);
    }

    private static String text(Object parent, String key) {
        return (String) child(parent, key);
    }

    /** Returns the expressions of the alert rules, by the name of the alert. */
    private static Map<String, String> rules() throws IOException {
        Map<String, String> expressions = new LinkedHashMap<>();
        Object file = new Yaml().load(Files.readString(RULES));
        for (Object group : list(file, "groups")) {
            for (Object rule : list(group, "rules")) {
                expressions.put(text(rule, "alert"), text(rule, "expr"));
            }
        }
        return expressions;
    }

    /** Returns the queries of the dashboard, with values for its variables, by panel and number. */
    private static Map<String, String> queries() throws IOException {
        Map<String, String> expressions = new LinkedHashMap<>();
        Object dashboard = JSON.std.mapFrom(Files.readString(FOLDER.resolve("mortise-dashboard.json")));
        for (Object panel : list(dashboard, "panels")) {
            for (Object target : list(panel, "targets")) {
                expressions.put(
                        text(panel, "title") + " " + text(target, "refId"),
                        text(target, "expr").replace("$backend", ".*").replace("$__rate_interval", "5m"));
            }
        }
        return expressions;
    }

    private static List<ScrapedLocks.Sample> lastScrape() {
        return scrapes.get(scrapes.size() - 1);
    }

    /** Returns what an expression uses that the scrape does not have: metrics, labels, and values of labels. */
    private static List<String> unknown(String expression) {
        List<String> unknown = new ArrayList<>();
        Set<String> labels = new TreeSet<>(OPTIONAL_LABELS);
        for (MatchResult use : METRIC.matcher(expression).results().toList()) {
            List<ScrapedLocks.Sample> series = lastScrape().stream()
                    .filter(sample -> sample.metric().equals(use.group(1)))
                    .toList();
            if (series.isEmpty()) {
                unknown.add(use.group(1));
            }
            series.forEach(sample -> labels.addAll(sample.labels().keySet()));
            for (MatchResult matcher : MATCHER.matcher(use.group(2) == null ? "" : use.group(2))
                    .results()
                    .toList()) {
                String label = matcher.group(1);
                Set<String> values = series.stream()
                        .map(sample -> sample.labels().getOrDefault(label, ""))
                        .collect(Collectors.toSet());
                Stream<String> wanted = matcher.group(2).equals("=")
                        ? Stream.of(matcher.group(3))
                        : Stream.of(matcher.group(3).split("\\|"));
                wanted.filter(value -> values.stream().noneMatch(known -> matches(matcher, value, known)))
                        .forEach(value -> unknown.add(use.group(1) + "{" + label + "=" + value + "}"));
            }
        }
        GROUPING.matcher(expression)
                .results()
                .flatMap(grouping -> Stream.of(grouping.group(1).split(",\\s*")))
                .filter(label -> !labels.contains(label))
                .forEach(unknown::add);
        return unknown;
    }

    private static boolean matches(MatchResult matcher, String wanted, String known) {
        return matcher.group(2).equals("=") ? known.equals(wanted) : !known.isEmpty() && known.matches(wanted);
    }

    @Test
    void theRegistryHasAllThatTheRulesUse() throws IOException {
        assertThat(rules())
                .hasSize(4)
                .allSatisfy((alert, expression) ->
                        assertThat(unknown(expression)).as(alert).isEmpty());
    }

    @Test
    void theRegistryHasAllThatTheDashboardUses() throws IOException {
        assertThat(queries())
                .hasSizeGreaterThan(12)
                .allSatisfy((query, expression) ->
                        assertThat(unknown(expression)).as(query).isEmpty());
    }

    @Test
    void theCheckFindsWhatTheRegistryDoesNotHave() {
        assertThat(unknown("sum by (backend, colour) (mortise_lock_held{backend=\"memory\"})"))
                .containsExactly("colour");
        assertThat(unknown("rate(mortise_lock_loss_total[5m])")).containsExactly("mortise_lock_loss_total");
        assertThat(unknown("mortise_lease_renewal_percent_bucket{le=\"34.0\"}"))
                .containsExactly("mortise_lease_renewal_percent_bucket{le=34.0}");
        assertThat(unknown("mortise_lock_acquire_seconds_count{outcome=~\"granted|denied\"}"))
                .containsExactly("mortise_lock_acquire_seconds_count{outcome=denied}");
    }

    private static double value(int minute, String series) {
        return Double.parseDouble(scrapes.get(minute).stream()
                .filter(sample -> sample.series().equals(series))
                .findFirst()
                .orElseThrow()
                .value());
    }

    /** Micrometer puts no value below 1 into a bucket below 1, so the slack is in percent. */
    @Test
    void aLateRenewalAndALossChangeTheSeriesOfTheirRules() {
        String late = "mortise_lease_renewal_percent_bucket{backend=\"memory\",le=\"33.0\"}";
        String lost = "mortise_lock_lost_total{backend=\"memory\",reason=\"removed\"}";
        for (String series : List.of(late, lost)) {
            assertThat(value(ScrapedLocks.HEALTHY, series)).as(series).isZero();
            assertThat(value(ScrapedLocks.HEALTHY + 1, series)).as(series).isOne();
        }
    }

    @Test
    void theElectionsSeriesShowThatNobodyLeads() {
        String leading = "mortise_election_leading{backend=\"memory\"}";
        String candidates = "mortise_election_candidates{backend=\"memory\"}";
        assertThat(value(ScrapedLocks.HEALTHY, leading)).isOne();
        assertThat(value(ScrapedLocks.HEALTHY, candidates)).isOne();
        assertThat(value(ScrapedLocks.HEALTHY + 1, leading)).isZero();
        assertThat(value(ScrapedLocks.HEALTHY + 1, candidates)).isOne();
        assertThat(value(scrapes.size() - 1, candidates)).as("after close()").isZero();
        assertThat(value(scrapes.size() - 1, "mortise_election_changes_total{backend=\"memory\"}"))
                .isOne();
    }

    /** A counter that begins with its first event has no increase, so that event would cause no alert. */
    @Test
    void allSeriesExistBeforeTheFirstEvent() {
        assertThat(scrapes.get(0).stream().map(ScrapedLocks.Sample::series).toList())
                .containsExactlyElementsOf(
                        lastScrape().stream().map(ScrapedLocks.Sample::series).toList());
    }

    /** Evaluates expressions by promtool, on recorded scrapes. Fails unless those have a result that should have one. */
    private void evaluate(
            List<List<ScrapedLocks.Sample>> recorded, int minute, Map<String, String> expressions, boolean result)
            throws Exception {
        Map<String, List<String>> series = new TreeMap<>();
        for (int at = 0; at < recorded.size(); at++) {
            for (ScrapedLocks.Sample sample : recorded.get(at)) {
                List<String> values = series.computeIfAbsent(sample.series(), each -> new ArrayList<>());
                while (values.size() < at) {
                    values.add("_");
                }
                values.add(sample.value());
            }
        }
        List<Map<String, Object>> input = new ArrayList<>();
        series.forEach((name, values) -> input.add(Map.of("series", name, "values", String.join(" ", values))));
        List<Map<String, Object>> tests = new ArrayList<>();
        expressions
                .values()
                .forEach(expression -> tests.add(Map.of(
                        "expr",
                        "count(" + expression + ") > bool 0",
                        "eval_time",
                        minute + "m",
                        "exp_samples",
                        result ? List.of(Map.of("labels", "{}", "value", 1)) : List.of())));
        Path file = folder.resolve("test.yml");
        Files.writeString(
                file,
                new Yaml()
                        .dump(Map.of(
                                "rule_files",
                                List.of(RULES.toAbsolutePath().normalize().toString()),
                                "evaluation_interval",
                                "1m",
                                "tests",
                                List.of(Map.of("interval", "1m", "input_series", input, "promql_expr_test", tests)))));
        promtool("test", "rules", file.toString());
    }

    private static void promtool(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
    }

    private static void assumePromtool() {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "promtool"))),
                "promtool is not installed");
    }

    @Test
    void theRulesAreSilentOnHealthyLocksAndFireOnFaults() throws Exception {
        assumePromtool();
        promtool("check", "rules", RULES.toString());
        evaluate(scrapes, ScrapedLocks.HEALTHY, rules(), false);
        evaluate(scrapes, ScrapedLocks.HEALTHY + 3, rules(), true);
    }

    @Test
    void aLossInTheFirstScrapeOfAProcessFiresToo() throws Exception {
        assumePromtool();
        Map<String, String> loss = Map.of("MortiseLeaseLost", rules().get("MortiseLeaseLost"));
        evaluate(scrapes.subList(ScrapedLocks.HEALTHY + 1, ScrapedLocks.HEALTHY + 3), 1, loss, true);
    }

    @Test
    void anElectionThatAllCandidatesHaveLeftNeedsNoLeader() throws Exception {
        assumePromtool();
        Map<String, String> leader = Map.of("MortiseNoLeader", rules().get("MortiseNoLeader"));
        evaluate(scrapes, ScrapedLocks.HEALTHY + ScrapedLocks.FAULTY, leader, true);
        evaluate(scrapes, scrapes.size() - 1, leader, false);
    }

    /** Each lock of its own tag: that of another election leads. */
    @Test
    void anElectionWithoutALeaderFiresBesideOneThatHasOne() throws Exception {
        assumePromtool();
        List<ScrapedLocks.Sample> both = Stream.of("a", "b")
                .flatMap(lock -> Stream.of(
                        new ScrapedLocks.Sample(
                                "mortise_election_leading", Map.of("lock", lock), lock.equals("a") ? "1.0" : "0.0"),
                        new ScrapedLocks.Sample("mortise_election_candidates", Map.of("lock", lock), "2.0")))
                .toList();
        evaluate(List.of(both), 0, Map.of("MortiseNoLeader", rules().get("MortiseNoLeader")), true);
        evaluate(List.of(both.subList(0, 2)), 0, Map.of("MortiseNoLeader", rules().get("MortiseNoLeader")), false);
    }

    @Test
    void eachQueryOfTheDashboardHasAResult() throws Exception {
        assumePromtool();
        evaluate(scrapes, ScrapedLocks.HEALTHY + ScrapedLocks.FAULTY, queries(), true);
    }
}
