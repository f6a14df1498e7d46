// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.history.FencedResource;
import io.mortise.lock.testkit.history.History;
import io.mortise.lock.testkit.history.HistoryCheckTolerances;
import io.mortise.lock.testkit.history.HistoryChecker;
import io.mortise.lock.testkit.history.HistoryEvent;
import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import io.mortise.lock.testkit.history.HistoryReport;
import io.mortise.lock.testkit.history.HolderProcess;
import io.mortise.lock.testkit.history.ProtectedResource;
import io.mortise.lock.testkit.history.RecordedAcquireLoop;
import io.mortise.lock.testkit.history.RecordingLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/** Test fixture that records the lock events of several clients and checks the resulting history. */
final class HistoryRecordingFixture {
    /** Number of further grants that count as progress. */
    private static final int PROGRESS_GRANTS = 5;

    /** Number of checks of one lease that shows that it is kept; a normal cycle has fewer. */
    private static final long CHECKS_OF_A_KEPT_LEASE = 4;

    private final ContractTestFixture fixture;
    private final History history = new History();
    private final FencedResource resource = new FencedResource(history);
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final Set<String> keepingProcesses = ConcurrentHashMap.newKeySet();

    HistoryRecordingFixture(ContractTestFixture fixture) {
        this.fixture = fixture;
    }

    ProtectedResource resource() {
        return resource;
    }

    /** Starts a process without waiting until it is ready; aborts the test if the backend has no URL. */
    HolderProcess process(String name, String rule) {
        return HolderProcess.start(name, fixture.url(rule), fixture.backend().lease(), history, resource);
    }

    /** Returns a lock with short leases whose events are recorded under the given process name. */
    RecordingLock lock(String process, LockClient client, String name) {
        return new RecordingLock(history, process, client.named(name, fixture.shortLease(client)));
    }

    /** Starts threads that acquire and release the lock "x" until {@link #stopWork()}. */
    List<Future<?>> startWork(String process, LockClient client, int threads, long seed) {
        List<Future<?>> working = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            RecordedAcquireLoop cycles =
                    new RecordedAcquireLoop(lock(process, client, "x"), resource, seed + working.size());
            working.add(fixture.start(() -> cycles.until(stopped::get, () -> keepingProcesses.contains(process))));
        }
        return working;
    }

    void stopWork() {
        stopped.set(true);
    }

    /**
     * Injects a fault on the link of one client while that client holds the lock, runs {@code during}, and heals the link.
     *
     * @return false if the backend does not support the fault, in which case nothing is done
     */
    boolean withFault(String process, Map<String, LockClient> clients, LinkFault fault, FaultPeriod during)
            throws Exception {
        LockClient client = Objects.requireNonNull(clients.get(process));
        keepingProcesses.add(process);
        awaitKeptLease(process);
        long start = history.now();
        boolean injected = fixture.faultInjector().tryInject(client, fault);
        if (injected) {
            history.disturbed(process, Disturbed.Kind.CUT, start);
            during.run();
            long healed = history.now();
            fixture.faultInjector().heal(client);
            history.disturbed(process, Disturbed.Kind.HEALED, healed);
        }
        keepingProcesses.remove(process);
        return injected;
    }

    /** Waits until the process, which keeps its next lease, has checked one lease several times. */
    void awaitKeptLease(String process) throws Exception {
        long since = history.now();
        ContractTestFixture.eventually(
                process + " keeps a lease",
                ContractTestFixture.LONG,
                () -> history.events().stream()
                        .filter(event -> event instanceof HistoryEvent.Checked check
                                && check.held()
                                && check.process().equals(process)
                                && check.at().earliest() > since)
                        .collect(Collectors.groupingBy(
                                event -> ((HistoryEvent.Checked) event).call(), Collectors.counting()))
                        .values()
                        .stream()
                        .anyMatch(checks -> checks >= CHECKS_OF_A_KEPT_LEASE));
    }

    /** Waits until each of the processes has been granted some more leases. */
    void awaitProgress(Collection<String> processes) throws Exception {
        long since = history.now();
        for (String process : processes) {
            ContractTestFixture.eventually(
                    "progress of " + process,
                    ContractTestFixture.LONG,
                    () -> grants(process, since) >= PROGRESS_GRANTS);
        }
    }

    /** Waits until any process is granted the lock of an unresponsive holder. */
    void awaitNextGrant(Duration within) throws Exception {
        long since = history.now();
        ContractTestFixture.eventually(
                "the lock is granted to the next process",
                within,
                () -> history.events().stream()
                        .anyMatch(event -> event instanceof HistoryEvent.Granted
                                && event.at().earliest() > since));
    }

    void awaitElapsed(Duration time) throws Exception {
        ContractTestFixture.letPass("time passes", time);
    }

    boolean has(Class<? extends HistoryEvent> kind, String process) {
        return history.events().stream()
                .anyMatch(event -> kind.isInstance(event) && event.process().equals(process));
    }

    private long grants(String process, long since) {
        return history.events().stream()
                .filter(event -> event instanceof HistoryEvent.Granted
                        && event.process().equals(process)
                        && event.at().earliest() > since)
                .count();
    }

    /** Checks the history; if it breaks a rule, writes it beside the report and fails with the file's name. */
    HistoryReport check() throws IOException {
        HistoryReport report = new HistoryChecker(
                        HistoryCheckTolerances.takeoverWithin(fixture.backend().takeoverWithin()))
                .check(history);
        if (!report.violations().isEmpty()) {
            Path file = fixture.recorder().newFile("history-", ".txt");
            Files.write(file, history.lines());
            // The rule comes first, since the name of the test has another one.
            throw new AssertionError(
                    report.violations().get(0) + "\n" + report + "\nhistory in " + file.toAbsolutePath());
        }
        return report;
    }

    interface FaultPeriod {
        void run() throws Exception;
    }
}
