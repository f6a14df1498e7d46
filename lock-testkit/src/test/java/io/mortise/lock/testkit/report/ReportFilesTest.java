// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.mortise.lock.testkit.report.BackendReport.State;
import io.mortise.lock.testkit.report.BackendReport.Verdict;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how the reports of several test classes become one report. */
class ReportFilesTest {
    private static final int CLASSES = 12;

    @TempDir
    private Path directory = Path.of("");

    /** Writes reports of the given numbers; run in a JVM of its own. */
    public static final class Writer {
        private Writer() {}

        public static void main(String[] arguments) throws IOException {
            ReportFiles files = new ReportFiles(Path.of(arguments[0]));
            for (int i = 1; i < arguments.length; i++) {
                files.write(report("Test" + arguments[i], "store", TestOutcome.PASSED));
            }
        }
    }

    private static ClassReport report(String testClass, String description, TestOutcome outcome) {
        return report(
                testClass,
                description,
                List.of(result("S01_x", outcome, outcome == TestOutcome.NOT_VERIFIED ? "LINK" : "")));
    }

    private static ClassReport report(String testClass, String description, List<TestResult> results) {
        return new ClassReport(
                testClass,
                "2026-01-01T00:00:00Z",
                "1",
                "17",
                "Linux",
                new BackendFacts(description, "Backend", List.of("FENCING"), 4000, 7000, List.of("URL")),
                List.of("s08"),
                List.of("S01_x"),
                results,
                Map.of("acquire", List.of(5L, 3L)),
                List.of(new FaultEffectCounts("cut", 1, 0, 2, "")));
    }

    private static TestResult result(String method, TestOutcome outcome, String hook) {
        LockEvent event = new LockEvent(1, LockEvent.Kind.GRANTED, "client 1", "x", "abc", "token 1");
        boolean failed = outcome == TestOutcome.FAILED;
        return new TestResult(
                method,
                method,
                outcome,
                "NOT VERIFIED: why",
                hook,
                failed ? "[S05: the successor's lock] expected" : "",
                failed ? "java.lang.AssertionError" : "",
                List.of("a.b.C.d(C.java:1)"),
                List.of(event));
    }

    private CombinedReport combined() {
        return ReportFiles.read(directory.resolve(ReportFiles.COMBINED));
    }

    @Test
    void severalJvmsAndThreadsLoseNoReport() throws Exception {
        List<Process> writers = new ArrayList<>();
        for (int process = 0; process < 2; process++) {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Writer.class.getName(),
                    directory.toString()));
            int first = process * CLASSES;
            IntStream.range(first, first + CLASSES).mapToObj(String::valueOf).forEach(command::add);
            File log = directory.resolve("writer-" + process + ".log").toFile();
            writers.add(new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log)
                    .start());
        }
        IntStream.range(2 * CLASSES, 3 * CLASSES).parallel().forEach(number -> {
            try {
                new ReportFiles(directory).write(report("Test" + number, "store", TestOutcome.PASSED));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        for (Process writer : writers) {
            assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(writer.exitValue()).isZero();
        }
        assertThat(combined().backends())
                .singleElement()
                .satisfies(backend -> assertThat(backend.classes())
                        .extracting(ClassReport::testClass)
                        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 3 * CLASSES)
                                .mapToObj(number -> "Test" + number)
                                .toList()));
    }

    @Test
    void aReportIsReadAsItWasWritten() throws Exception {
        ClassReport written = report("A", "store", TestOutcome.FAILED);
        new ReportFiles(directory).write(written);
        assertThat(combined().backends().get(0).classes()).containsExactly(written);
    }

    @Test
    void classesOfOneBackendShareItsVerdict() throws Exception {
        ReportFiles files = new ReportFiles(directory);
        files.write(report("A", "one", TestOutcome.PASSED));
        files.write(report("B", "two", TestOutcome.PASSED));
        files.write(report("C", "two", TestOutcome.NOT_VERIFIED));
        files.write(report("D", "three", TestOutcome.FAILED));
        assertThat(combined().backends())
                .extracting(CombinedReport.BackendEntry::description, CombinedReport.BackendEntry::verdict)
                .containsExactly(tuple("one", "kept"), tuple("two", "not looked at"), tuple("three", "broken"));
        assertThat(Files.readString(directory.resolve("report.html"))).contains("implement Faults.link");
    }

    @Test
    void theMostSpecificRuleComesFirst() {
        BackendReport report = BackendReport.of(
                List.of(report(
                        "A",
                        "store",
                        List.of(
                                result("S01_x", TestOutcome.FAILED, ""),
                                new TestResult(
                                        "S01_y",
                                        "S01_y",
                                        TestOutcome.FAILED,
                                        "",
                                        "",
                                        "boom 17",
                                        "a.TimeoutException",
                                        List.of(),
                                        List.of()),
                                new TestResult(
                                        "S01_z",
                                        "S01_z",
                                        TestOutcome.FAILED,
                                        "",
                                        "",
                                        "S3: a token below that of an earlier grant",
                                        "a.AssertionError",
                                        List.of(),
                                        List.of())))),
                Set.of("S01_x", "S01_y", "S01_z", "S08_q", "S09_r"));
        assertThat(report.causes())
                .extracting(BackendReport.FailureCause::title)
                .containsExactly("S3 Fencing", "S5 Release touches only its own grant", "TimeoutException: boom #");
        assertThat(report.verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(report.rules())
                .filteredOn(rule -> rule.rule() == Rule.S08)
                .singleElement()
                .satisfies(rule -> assertThat(rule.holes())
                        .singleElement()
                        .satisfies(hole -> assertThat(hole.accepted()).isTrue()));
        assertThat(report.rules())
                .filteredOn(rule -> rule.rule() == Rule.S09)
                .singleElement()
                .satisfies(rule -> assertThat(rule.state()).isEqualTo(State.NOT_LOOKED_AT));
    }

    /** Text of a store or a test must not break out of the page. */
    @Test
    void textIsEscaped() throws Exception {
        new ReportFiles(directory).write(report("A", "<script>alert(1)</script>\u202e\u0000", TestOutcome.FAILED));
        assertThat(Files.readString(directory.resolve("report.html")))
                .contains("&lt;script&gt;", "\\u202e\\u0000")
                .doesNotContain("<script", "\u202e", "\u0000");
    }
}
