// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.HistoryEvent;
import io.mortise.lock.testkit.history.HistoryReport;
import io.mortise.lock.testkit.history.HolderProcess;
import io.mortise.lock.testkit.history.RecordingLease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that locks stay exclusive and are taken over if a process freezes or dies. Needs {@link BackendUnderTest#url()}. */
interface ProcessContract extends Contract {
    /** One scenario for S02, S03, S05, S07 and S11, since each expiring lease takes its whole duration. */
    @Test
    @Tag(Contract.PROCESSES_TAG)
    @ResourceLock(Contract.PROCESSES)
    default void S02_aResumedHolderSeesItsLossAtTheFirstCheck() throws Exception {
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        try (HolderProcess frozen = history.process("frozen", "S02, S03, S07, S11 for a frozen process")) {
            frozen.awaitReady();
            ApiStyle.result(frozen.acquire("x"));
            assertThat(ApiStyle.result(frozen.write("x"))).isTrue();
            assertThat(ApiStyle.result(frozen.checkHeld("x")))
                    .as("before the freeze")
                    .isTrue();
            frozen.pause();
            Future<RecordingLease> waiting = fixture().start(history.lock("here", other, "x")::acquire);
            ContractTestFixture.eventually(
                    "S11: the next waiter is granted the lock",
                    fixture().backend().takeoverWithin(),
                    waiting::isDone);
            RecordingLease next = ApiStyle.result(waiting);
            assertThat(next.write(history.resource())).isTrue();
            CompletableFuture<Boolean> late =
                    frozen.write("x"); // the first command after the freeze, without another check
            frozen.resume();
            boolean fenced = other.capabilities().contains(Capability.FENCING);
            assertThat(ApiStyle.result(late))
                    .as("S03: the late write is accepted")
                    .isEqualTo(!fenced);
            assertThat(ApiStyle.result(frozen.checkHeld("x")))
                    .as("S02: the first check")
                    .isFalse();
            ContractTestFixture.eventually(
                    "S07: the frozen holder is notified",
                    ContractTestFixture.LONG,
                    () -> history.has(HistoryEvent.LossReported.class, "frozen"));
            assertThat(ApiStyle.result(frozen.release("x"))).as("S05").isEqualTo(ReleaseOutcome.LOST);
            assertThat(next.checkHeld()).as("the successor's lease").isTrue();
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
            HistoryReport report = history.check();
            assertThat(report.staleHolders()).as("%s", report).hasSize(1);
            assertThat(report.refusedWrites()).isEqualTo(fenced ? 1 : 0);
            fixture().assertFree(fixture().client(), "x");
        }
    }

    @Test
    @Tag(Contract.PROCESSES_TAG)
    @ResourceLock(Contract.PROCESSES)
    default void S11_theLockOfAKilledProcessIsGrantedToTheNextWaiter() throws Exception {
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        try (HolderProcess killed = history.process("killed", "S11 for a killed process")) {
            killed.awaitReady();
            ApiStyle.result(killed.acquire("x"));
            Future<RecordingLease> waiting = fixture().start(history.lock("here", other, "x")::acquire);
            ContractTestFixture.awaitWaiters(other, "x", 1);
            killed.kill();
            ContractTestFixture.eventually(
                    "the next waiter is granted the lock", fixture().backend().takeoverWithin(), waiting::isDone);
            assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(history.check().grants()).isEqualTo(2);
            fixture().assertFree(fixture().client(), "x");
        }
    }

    @Test
    @Tag(Contract.PROCESSES_TAG)
    @ResourceLock(Contract.PROCESSES)
    default void S12_aKilledWaiterIsSkipped() throws Exception {
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        LockClient holder = fixture().client();
        LockClient behind = fixture().client();
        ContractTestFixture.onlyIf(holder, Capability.CRASH_RELEASE);
        ContractTestFixture.onlyIf(holder, Capability.FAIR);
        try (HolderProcess killed = history.process("killed", "S12 for a killed process")) {
            killed.awaitReady();
            RecordingLease held = history.lock("holder", holder, "x").acquire();
            CompletableFuture<String> never = killed.acquire("x");
            ContractTestFixture.eventually(
                    "the process calls acquire",
                    ContractTestFixture.LONG,
                    () -> history.has(HistoryEvent.Requested.class, "killed"));
            ContractTestFixture.awaitWaiters(holder, "x", 1);
            Future<RecordingLease> waiting = fixture().start(history.lock("behind", behind, "x")::acquire);
            ContractTestFixture.awaitWaiters(holder, "x", 2);
            killed.kill();
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            ContractTestFixture.eventually(
                    "the waiter behind is granted the lock", fixture().backend().takeoverWithin(), waiting::isDone);
            assertThat(never).as("the killed process's acquire").isCompletedExceptionally();
            assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(history.check().grants()).isEqualTo(2);
            fixture().assertFree(fixture().client(), "x");
        }
    }
}
