// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import io.mortise.lock.LockClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** Collects the results of one test class, writes its report, and prints a summary when the class ends. Thread-safe. */
public final class ClassRecorder {
    private static final int MAX_SAMPLES = 1000;
    private static final int MAX_EVENTS_IN_REPORT = 400;
    private static final int MAX_FRAMES = 12;

    private final String testClass;
    private final ConformanceReportSettings settings;
    private final Map<String, TestRecorder> running = new ConcurrentHashMap<>();

    // The fields below are guarded by this.
    private final List<TestResult> results = new ArrayList<>();
    private final Map<String, List<Long>> timings = new TreeMap<>();
    private final Map<String, FaultEffectCounts> hookChecks = new TreeMap<>();
    private @Nullable BackendFacts facts;

    /** @param testClass name of the test class */
    public ClassRecorder(String testClass, ConformanceReportSettings settings) {
        this.testClass = testClass;
        this.settings = settings;
    }

    /** Returns the recorder of a test; the same one for the same id. */
    public TestRecorder test(String uniqueId) {
        return running.computeIfAbsent(
                uniqueId,
                id -> new TestRecorder(settings.directory().orElse(ConformanceReportSettings.DEFAULT_DIRECTORY)));
    }

    /** Completes the failure of a test by what was recorded, before its clients close. */
    public void failing(String uniqueId, String method, Throwable failure) {
        if (failure instanceof TestAbortedException) {
            return;
        }
        StackTraceFilter.filter(failure, method);
        TestRecorder recorder = test(uniqueId);
        recorder.failed(PrintableText.of(firstLine(failure)));
        List<LockEvent> events = recorder.events();
        if (events.size() > 1) {
            failure.addSuppressed(new RecordedEventsException(events));
        }
    }

    /**
     * Records the result of a test that has ended.
     *
     * @param display the name of the execution
     * @param failure the exception with which the test failed or was aborted; null if it passed
     */
    public synchronized void ended(String uniqueId, String method, String display, @Nullable Throwable failure) {
        TestRecorder recorder = running.remove(uniqueId);
        if (recorder != null) {
            BackendFacts known = recorder.facts();
            if (known != null && (facts == null || facts.capabilities().isEmpty())) {
                facts = known;
            }
            recorder.timings().forEach((name, samples) -> {
                List<Long> all = timings.computeIfAbsent(name, key -> new ArrayList<>());
                samples.stream().limit(Math.max(0, MAX_SAMPLES - all.size())).forEach(all::add);
            });
            recorder.hookChecks().forEach(check -> hookChecks.merge(check.fault(), check, FaultEffectCounts::plus));
        }
        results.add(result(method, display, failure, recorder));
    }

    private static TestResult result(
            String method, String display, @Nullable Throwable failure, @Nullable TestRecorder recorder) {
        if (failure == null) {
            return TestResult.withoutFailure(method, display, TestOutcome.PASSED, "", "");
        }
        String message = PrintableText.of(String.valueOf(failure.getMessage()));
        if (failure instanceof RuleNotCheckedException notChecked) {
            Hook hook = notChecked.hook();
            return TestResult.withoutFailure(
                    method, display, notChecked.outcome(), message, hook == null ? "" : hook.name());
        }
        if (failure instanceof TestAbortedException) {
            String hook = Hook.namedIn(message).map(Hook::name).orElse("");
            return TestResult.withoutFailure(method, display, TestOutcome.NOT_VERIFIED, message, hook);
        }
        List<LockEvent> events = recorder == null ? List.of() : recorder.events();
        return new TestResult(
                method,
                display,
                TestOutcome.FAILED,
                "",
                "",
                message,
                failure.getClass().getName(),
                stack(failure),
                events.subList(Math.max(0, events.size() - MAX_EVENTS_IN_REPORT), events.size()));
    }

    private static List<String> stack(Throwable failure) {
        List<String> lines = new ArrayList<>();
        for (Throwable at = failure; at != null && lines.size() < MAX_FRAMES; at = at.getCause()) {
            if (at != failure) {
                lines.add("caused by " + PrintableText.of(at.toString()));
            }
            Stream.of(at.getStackTrace())
                    .limit(MAX_FRAMES)
                    .map(Object::toString)
                    .forEach(lines::add);
        }
        return lines;
    }

    private static String firstLine(Throwable failure) {
        return String.valueOf(failure.getMessage()).strip().lines().findFirst().orElse("");
    }

    /**
     * Writes the report of the class and the combined one, and prints five lines, unless the run writes no reports.
     *
     * @param allTests the names of all tests of the kit
     * @param ownTests the names of the tests that the class has
     * @param failure the exception with which the class failed outside of its tests; null if it did not
     * @return why a strict run fails; empty if it does not
     */
    public synchronized Optional<String> ended(Set<String> allTests, Set<String> ownTests, @Nullable Throwable failure)
            throws IOException {
        if (failure != null) {
            results.add(result(testClass, testClass, failure, null));
        }
        ClassReport report = new ClassReport(
                testClass,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                version(),
                System.getProperty("java.vm.vendor") + " " + Runtime.version(),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                        + System.getProperty("os.arch"),
                facts != null ? facts : new BackendFacts(testClass, "", List.of(), 0, 0, List.of()),
                settings.accepted().stream().sorted().toList(),
                allTests.stream().sorted().toList(),
                List.copyOf(results),
                new LinkedHashMap<>(timings),
                List.copyOf(hookChecks.values()));
        BackendReport own = BackendReport.of(List.of(report), ownTests);
        if (settings.directory().isPresent()) {
            Path page = new ReportFiles(settings.directory().get()).write(report);
            own.console(page).forEach(System.out::println);
        }
        return settings.strict() ? own.strictFailure() : Optional.empty();
    }

    private static String version() {
        return Optional.ofNullable(LockClient.class.getPackage().getImplementationVersion())
                .orElse("unpackaged");
    }
}
