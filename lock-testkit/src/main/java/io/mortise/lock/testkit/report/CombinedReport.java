// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The content of {@code report.json}: all backends that the test classes of a module have tested.
 *
 * @param backends one entry for each backend
 */
record CombinedReport(List<BackendEntry> backends) {
    /**
     * One backend, with what its test classes found.
     *
     * @param description what was tested
     * @param verdict kept, broken or not looked at
     * @param rules the state of each rule, by its name
     * @param classes the reports of the test classes
     */
    record BackendEntry(String description, String verdict, Map<String, String> rules, List<ClassReport> classes) {
        BackendReport report() {
            Set<String> tests = new LinkedHashSet<>();
            classes.forEach(one -> tests.addAll(one.tests()));
            return BackendReport.of(classes, tests);
        }
    }

    static CombinedReport of(List<ClassReport> classes) {
        Map<String, List<ClassReport>> byBackend = new LinkedHashMap<>();
        classes.forEach(one -> byBackend
                .computeIfAbsent(one.backend().description(), name -> new ArrayList<>())
                .add(one));
        List<BackendEntry> entries = new ArrayList<>();
        byBackend.forEach((description, reports) -> {
            BackendReport report = new BackendEntry(description, "", Map.of(), reports).report();
            Map<String, String> rules = new LinkedHashMap<>();
            report.rules()
                    .forEach(rule -> rules.put(rule.rule().label(), rule.state().text()));
            entries.add(new BackendEntry(description, report.verdict().text(), rules, reports));
        });
        return new CombinedReport(entries);
    }
}
