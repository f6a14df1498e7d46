// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.history.HistoryReport;
import io.mortise.lock.testkit.history.HolderProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that the recorded history of several clients and processes under faults breaks no locking rule. Rule S01. */
interface HistoryContract extends Contract {
    int THREADS = 2;
    ClientOptions QUICK = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));
    Duration SHORT_CUT = Duration.ofMillis(300);

    @Test
    default void S01_historyOfSeveralClients() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        Map<String, LockClient> clients = new LinkedHashMap<>();
        for (String name : List.of("silent", "cut", "unlucky")) {
            clients.put(name, fixture().client(QUICK));
        }
        List<Future<?>> working = new ArrayList<>();
        // The silent client has only one thread: a second one could be next in the queue, and would not respond either.
        clients.forEach((name, client) ->
                working.addAll(history.startWork(name, client, name.equals("silent") ? 1 : THREADS, seed)));
        history.awaitProgress(clients.keySet());
        boolean takenOver =
                Objects.requireNonNull(clients.get("silent")).capabilities().contains(Capability.CRASH_RELEASE);
        boolean silenced = takenOver
                && history.withFault(
                        "silent",
                        clients,
                        LinkFault.SILENCE,
                        () -> history.awaitNextGrant(fixture().backend().takeoverWithin()));
        boolean cut = history.withFault("cut", clients, LinkFault.CUT, () -> history.awaitElapsed(SHORT_CUT));
        boolean unlucky =
                history.withFault("unlucky", clients, LinkFault.LOST_REPLY, () -> history.awaitElapsed(SHORT_CUT));
        history.awaitProgress(clients.keySet());
        history.stopWork();
        ApiStyle.awaitAll(working);
        HistoryReport report = history.check();
        assertThat(report.handOffs()).as("%s", report).isPositive();
        assertThat(report.losses()).as("%s", report).isGreaterThanOrEqualTo(silenced ? 1 : 0);
        fixture().assertFree(fixture().client(), "x");
        if (silenced != takenOver || !cut || !unlucky) {
            throw ContractTestFixture.notVerified(
                    "S01, S02, S03, S07, S08 under faults",
                    "good without them, but Faults.link does not support every fault");
        }
    }

    @Test
    @Tag(Contract.PROCESSES_TAG)
    @ResourceLock(Contract.PROCESSES)
    default void S01_historyOfSeveralProcesses() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        String rule = "S01, S02, S03, S07, S11 over several processes";
        LockClient here = fixture().client(QUICK);
        ContractTestFixture.onlyIf(here, Capability.CRASH_RELEASE);
        try (HolderProcess frozen = history.process("frozen", rule);
                HolderProcess killed = history.process("killed", rule);
                HolderProcess steady = history.process("steady", rule)) {
            List.of(frozen, killed, steady).forEach(HolderProcess::awaitReady);
            List<Future<?>> working = new ArrayList<>(history.startWork("here", here, THREADS, seed));
            working.add(frozen.work("x", 1, seed + 1)); // one thread, as for the silent client above
            working.add(steady.work("x", THREADS, seed + 2));
            Future<?> ended = killed.work("x", THREADS, seed + 3);
            history.awaitProgress(List.of("frozen", "killed", "steady", "here"));
            ApiStyle.result(frozen.keep(true));
            history.awaitKeptLease("frozen");
            killed.kill(); // it is waiting: its session expires during the freeze that follows
            assertThat(ended).as("the work of the killed process").isDone();
            try (HolderProcess restarted = history.process("restarted", rule)) {
                restarted.awaitReady();
                working.add(restarted.work("x", THREADS, seed + 4));
                frozen.pause();
                history.awaitNextGrant(fixture().backend().takeoverWithin());
                frozen.resume();
                ApiStyle.result(frozen.keep(false));
                history.withFault("here", Map.of("here", here), LinkFault.CUT, () -> history.awaitElapsed(SHORT_CUT));
                history.awaitProgress(List.of("frozen", "steady", "here", "restarted"));
                history.stopWork();
                List.of(frozen, steady, restarted).forEach(HolderProcess::stop);
                ApiStyle.awaitAll(working);
            }
            HistoryReport report = history.check();
            assertThat(report.staleHolders()).as("%s", report).isNotEmpty();
        }
        fixture().assertFree(fixture().client(), "x");
    }
}
