// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the conformance kit against one other lock library and collects the results. */
final class PeerRun implements TestExecutionListener {
    private static final int MAX_MESSAGE = 4000;
    private static final String AT_A_TIME = "4";
    private static final Pattern ARGUMENT = Pattern.compile(".*= ?\"?(\\w+)\"?");

    private final Map<TestIdentifier, Long> started = new ConcurrentHashMap<>();
    private final Map<String, TestRecord> records = new ConcurrentHashMap<>();

    private PeerRun() {}

    /**
     * Runs the tests whose name matches, several at a time since they mostly wait. Runs those that failed again, one after the
     * other, since a busy machine can be the cause.
     *
     * @param tests pattern of the names of test methods
     * @param results called with all results, and once more when failed tests have been repeated
     */
    static void run(Peer peer, Pattern tests, Consumer<List<TestRecord>> results) {
        try (PeerTestServers store = PeerTestServers.start(peer.store())) {
            PeerConformanceTest.select(peer, store);
            Map<String, TestRecord> all =
                    new TreeMap<>(execute(name -> tests.matcher(name).find(), true));
            results.accept(new ArrayList<>(all.values()));
            Set<String> failed = all.values().stream()
                    .filter(record -> record.status() == TestRecord.Status.FAILED)
                    .map(TestRecord::test)
                    .collect(Collectors.toSet());
            if (!failed.isEmpty()) {
                execute(failed::contains, false).forEach((name, record) -> all.merge(name, record, TestRecord::plus));
                results.accept(new ArrayList<>(all.values()));
            }
        }
    }

    private static Map<String, TestRecord> execute(Predicate<String> tests, boolean parallel) {
        PeerRun run = new PeerRun();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(PeerConformanceTest.class))
                .filters((PostDiscoveryFilter) found -> FilterResult.includedIf(found.getSource()
                        .filter(MethodSource.class::isInstance)
                        .map(source -> tests.test(((MethodSource) source).getMethodName()))
                        .orElse(true)))
                .configurationParameter("junit.jupiter.execution.parallel.enabled", String.valueOf(parallel))
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", AT_A_TIME)
                .build();
        LauncherFactory.create().execute(request, run);
        return run.records;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test, System.nanoTime());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (!test.isTest()) {
            result.getThrowable().ifPresent(failure -> {
                throw new IllegalStateException("the tests did not run", failure);
            });
            return;
        }
        String method = test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getMethodName())
                .orElseThrow();
        Matcher argument = ARGUMENT.matcher(test.getDisplayName());
        TestRecord.Status status = switch (result.getStatus()) {
            case SUCCESSFUL -> TestRecord.Status.PASSED;
            case ABORTED -> TestRecord.Status.ABORTED;
            case FAILED -> TestRecord.Status.FAILED;
        };
        long millis = (System.nanoTime() - started.getOrDefault(test, 0L)) / 1_000_000;
        TestRecord record = new TestRecord(
                method,
                argument.matches() ? argument.group(1) : "",
                status,
                result.getThrowable().map(PeerRun::describe).orElse(""),
                status == TestRecord.Status.ABORTED ? 0 : 1,
                status == TestRecord.Status.FAILED ? 1 : 0,
                PeerConformanceTest.takeNotes(test.getUniqueId()));
        records.put(record.test() + " " + record.argument(), record);
        System.out.printf(
                "%-8s %6d ms  %s%s%n",
                status,
                millis,
                record.name(),
                record.message().isEmpty()
                        ? ""
                        : "  " + record.message().lines().findFirst().orElse(""));
    }

    /** Returns messages of the failure and its causes. */
    private static String describe(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = failure; each != null && text.length() < MAX_MESSAGE; each = each.getCause()) {
            text.append(text.isEmpty() ? "" : "\ncaused by ");
            text.append(
                    each instanceof AssertionError || each instanceof org.opentest4j.TestAbortedException
                            ? ""
                            : each.getClass().getSimpleName() + ": ");
            text.append(String.valueOf(each.getMessage()).strip().replaceAll("\\s*\\R\\s*", " | "));
            for (StackTraceElement frame : each.getStackTrace()) {
                if (frame.getClassName().startsWith("io.mortise.lock.testkit.")
                        && frame.getClassName().endsWith("Contract")) {
                    text.append(" [")
                            .append(frame.getFileName())
                            .append(':')
                            .append(frame.getLineNumber())
                            .append(']');
                    break;
                }
            }
        }
        return text.substring(0, Math.min(text.length(), MAX_MESSAGE));
    }
}
