// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.history.FencedResource;
import io.mortise.lock.testkit.history.History;
import io.mortise.lock.testkit.history.HistoryChecker;
import io.mortise.lock.testkit.history.HistoryEvent;
import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import io.mortise.lock.testkit.history.HistoryReport;
import io.mortise.lock.testkit.history.HistoryTimeLimits;
import io.mortise.lock.testkit.history.HistoryWorkload;
import io.mortise.lock.testkit.history.HolderProcess;
import io.mortise.lock.testkit.history.ProtectedResource;
import io.mortise.lock.testkit.history.RecordingLock;
import io.mortise.lock.testkit.proxy.FaultyLink;
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
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Fixture of a test that records a history and has it checked. */
final class HistoryRecordingFixture {
    /** So many leases from now on are progress. */
    private static final int PROGRESS = 5;

    /** More than in a cycle without keeping. */
    private static final long CHECKS_OF_A_KEEPER = 4;

    private final ContractFixture fixture;
    private final History history = new History();
    private final FencedResource resource = new FencedResource(history);
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final Set<String> keeping = ConcurrentHashMap.newKeySet();

    HistoryRecordingFixture(ContractFixture fixture) {
        this.fixture = fixture;
    }

    ProtectedResource resource() {
        return resource;
    }

    /** Starts a process, which need not be up when this returns; aborts the test if the backend has no URL. */
    HolderProcess process(String name, String rule) {
        return HolderProcess.start(name, fixture.url(rule), fixture.backend().lease(), history, resource);
    }

    /** A lock of a client of this JVM, with short leases, recorded under this name. */
    RecordingLock lock(String process, LockClient client, String name) {
        return new RecordingLock(history, process, client.named(name, fixture.shortLease(client)));
    }

    /** Works on the lock "x" by so many threads of the fixture, until {@link #stopWork()}. */
    List<Future<?>> work(String process, LockClient client, int threads, long seed) {
        List<Future<?>> working = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            HistoryWorkload cycles = new HistoryWorkload(lock(process, client, "x"), resource, seed + working.size());
            working.add(fixture.start(() -> cycles.until(stopped::get, () -> keeping.contains(process))));
        }
        return working;
    }

    void stopWork() {
        stopped.set(true);
    }

    /**
     * A fault on the link of one of the clients, which is holding then, while the rest runs. If the backend has no such fault
     * nothing happens, and the answer is false.
     */
    boolean broken(String process, Map<String, LockClient> clients, Consumer<FaultyLink> fault, Rest rest)
            throws Exception {
        LockClient client = Objects.requireNonNull(clients.get(process));
        keeping.add(process);
        awaitKeeper(process);
        long start = history.now();
        boolean harmed = fixture.nemesis().harms(client, fault);
        if (harmed) {
            history.disturbed(process, Disturbed.Kind.CUT, start);
            rest.run();
            long healed = history.now();
            fixture.nemesis().heal(client);
            history.disturbed(process, Disturbed.Kind.HEALED, healed);
        }
        keeping.remove(process);
        return harmed;
    }

    /** It was told to keep a lease, and has one: it checks it again and again. */
    void awaitKeeper(String process) throws Exception {
        long since = history.now();
        ContractFixture.eventually(
                process + " keeps a lease",
                ContractFixture.LONG,
                () -> history.events().stream()
                        .filter(event -> event instanceof HistoryEvent.Checked check
                                && check.held()
                                && check.process().equals(process)
                                && check.at().earliest() > since)
                        .collect(Collectors.groupingBy(
                                event -> ((HistoryEvent.Checked) event).call(), Collectors.counting()))
                        .values()
                        .stream()
                        .anyMatch(checks -> checks >= CHECKS_OF_A_KEEPER));
    }

    /** Each of them gets some leases more. */
    void awaitProgress(Collection<String> processes) throws Exception {
        long since = history.now();
        for (String process : processes) {
            ContractFixture.eventually(
                    "progress of " + process, ContractFixture.LONG, () -> grants(process, since) >= PROGRESS);
        }
    }

    /** Somebody is granted a lock that a silent one holds. */
    void awaitNextGrant(Duration within) throws Exception {
        long since = history.now();
        ContractFixture.eventually(
                "the next is granted",
                within,
                () -> history.events().stream()
                        .anyMatch(event -> event instanceof HistoryEvent.Granted
                                && event.at().earliest() > since));
    }

    void elapses(Duration time) throws Exception {
        ContractFixture.eventually("time passes", ContractFixture.LONG, ContractFixture.timePasses(time));
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

    /** The history is good; if not, it is kept in a file that the failure names. */
    HistoryReport check() throws IOException {
        HistoryReport report = new HistoryChecker(
                        HistoryTimeLimits.takeoverWithin(fixture.backend().takeoverWithin()))
                .check(history);
        if (!report.violations().isEmpty()) {
            Path file = Files.createTempFile("mortise-history-", ".txt");
            Files.write(file, history.lines());
            throw new AssertionError(report + "\nhistory in " + file);
        }
        return report;
    }

    interface Rest {
        void run() throws Exception;
    }
}
