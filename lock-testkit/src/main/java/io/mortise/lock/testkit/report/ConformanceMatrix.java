// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Program that prints a table of the conformance results of all backends of a build, and also writes it as an HTML page.
 *
 * <p>It reads each {@code report.json} that the conformance tests have written below a folder.
 */
public final class ConformanceMatrix {
    private static final Path PAGE = ConformanceReportSettings.DEFAULT_DIRECTORY.resolve("matrix.html");

    private ConformanceMatrix() {}

    /**
     * Runs the program.
     *
     * @param arguments the folder of the build; by default the current one
     */
    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments.length > 0 ? arguments[0] : ".")
                .toAbsolutePath()
                .normalize();
        List<CombinedReport.BackendEntry> backends = backends(root);
        if (backends.isEmpty()) {
            System.err.println("no " + ConformanceReportSettings.DEFAULT_DIRECTORY.resolve(ReportFiles.COMBINED)
                    + " below " + root + ": run the conformance tests first");
            System.exit(1);
        }
        table(backends).forEach(System.out::println);
        Path page = root.resolve(PAGE);
        Files.createDirectories(page.getParent());
        ReportFiles.replace(page, html(backends));
        System.out.println(page);
    }

    /** Returns the backends of all modules below the folder. */
    static List<CombinedReport.BackendEntry> backends(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file ->
                            file.endsWith(ConformanceReportSettings.DEFAULT_DIRECTORY.resolve(ReportFiles.COMBINED)))
                    .sorted()
                    .flatMap(file -> ReportFiles.read(file).backends().stream())
                    .toList();
        }
    }

    /** Returns the lines of the table: one column for each backend, one line for each rule. */
    static List<String> table(List<CombinedReport.BackendEntry> backends) {
        List<String> lines = new ArrayList<>();
        StringBuilder head = new StringBuilder("| |");
        StringBuilder verdicts = new StringBuilder("| **verdict** |");
        backends.forEach(backend -> {
            head.append(' ').append(PrintableText.name(backend.description())).append(" |");
            verdicts.append(" **").append(backend.verdict()).append("** |");
        });
        lines.add(head.toString());
        lines.add("|---|" + "---|".repeat(backends.size()));
        lines.add(verdicts.toString());
        for (Rule rule : Rule.values()) {
            StringBuilder line = new StringBuilder("| " + rule.label() + " |");
            backends.forEach(
                    backend -> line.append(' ').append(cell(backend, rule)).append(" |"));
            lines.add(line.toString());
        }
        return lines;
    }

    private static String cell(CombinedReport.BackendEntry backend, Rule rule) {
        return backend.report().rules().stream()
                .filter(one -> one.rule() == rule)
                .findFirst()
                .map(one -> one.state().text() + " (" + one.checked() + "/" + one.total() + ")")
                .orElse("not looked at");
    }

    private static String html(List<CombinedReport.BackendEntry> backends) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Rule rule : Rule.values()) {
            List<Map<String, Object>> cells = backends.stream()
                    .map(backend -> cell(backend, rule))
                    .map(text -> Map.<String, Object>of(
                            "text", text, "style", ReportPage.cssClass(text.replaceFirst(" \\(.*", ""))))
                    .toList();
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("label", rule.label());
            row.put("title", rule.subtitle());
            row.put("cells", cells);
            rows.add(row);
        }
        List<Map<String, Object>> heads = backends.stream()
                .map(backend -> Map.<String, Object>of(
                        "description",
                        PrintableText.of(backend.description()),
                        "verdict",
                        backend.verdict(),
                        "style",
                        ReportPage.cssClass(backend.verdict())))
                .toList();
        return ReportPage.template("matrix.html")
                .execute(Map.of("style", ReportPage.style(), "backends", heads, "rows", rows));
    }
}
