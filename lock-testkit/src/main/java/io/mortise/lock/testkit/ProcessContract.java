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
import org.junit.jupiter.api.Test;

/** Contract with processes that freeze and die. Needs {@link BackendUnderTest#url()}. */
interface ProcessContract extends Contract {
    /** One story, since each lease that runs out costs its duration: S02, S03, S05, S07 and S11. */
    @Test
    default void S02_aFrozenHolderKnowsItsLossTheMomentItGoesOn() throws Exception {
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        LockClient other = fixture().client();
        ContractFixture.onlyIf(other, Capability.CRASH_RELEASE);
        try (HolderProcess frozen = history.process("frozen", "S02, S03, S07, S11 for a frozen process")) {
            frozen.awaitReady();
            ApiStyle.result(frozen.acquire("x"));
            assertThat(ApiStyle.result(frozen.write("x"))).isTrue();
            assertThat(ApiStyle.result(frozen.checkHeld("x")))
                    .as("before the freeze")
                    .isTrue();
            frozen.pause();
            Future<RecordingLease> waiting = fixture().start(history.lock("here", other, "x")::acquire);
            ContractFixture.eventually(
                    "S11: the next is granted", fixture().backend().takeoverWithin(), waiting::isDone);
            RecordingLease next = ApiStyle.result(waiting);
            assertThat(next.write(history.resource())).isTrue();
            CompletableFuture<Boolean> late = frozen.write("x"); // the first that it does, without another check
            frozen.resume();
            boolean fenced = other.capabilities().contains(Capability.FENCING);
            assertThat(ApiStyle.result(late))
                    .as("S03: the late write is accepted")
                    .isEqualTo(!fenced);
            assertThat(ApiStyle.result(frozen.checkHeld("x")))
                    .as("S02: the first check")
                    .isFalse();
            ContractFixture.eventually(
                    "S07: it is told", ContractFixture.LONG, () -> history.has(HistoryEvent.Told.class, "frozen"));
            assertThat(ApiStyle.result(frozen.release("x"))).as("S05").isEqualTo(ReleaseOutcome.LOST);
            assertThat(next.checkHeld()).as("the successor's lease").isTrue();
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
            HistoryReport report = history.check();
            assertThat(report.wrongBeliefs()).as("%s", report).hasSize(1);
            assertThat(report.refusedWrites()).isEqualTo(fenced ? 1 : 0);
            fixture().assertFree(fixture().client(), "x");
        }
    }

    @Test
    default void S11_theLockOfAKilledProcessGoesToTheNext() throws Exception {
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        LockClient other = fixture().client();
        ContractFixture.onlyIf(other, Capability.CRASH_RELEASE);
        try (HolderProcess killed = history.process("killed", "S11 for a killed process")) {
            killed.awaitReady();
            ApiStyle.result(killed.acquire("x"));
            Future<RecordingLease> waiting = fixture().start(history.lock("here", other, "x")::acquire);
            ContractFixture.awaitWaiters(other, "x", 1);
            killed.kill();
            ContractFixture.eventually(
                    "the next is granted", fixture().backend().takeoverWithin(), waiting::isDone);
            assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(history.check().grants()).isEqualTo(2);
            fixture().assertFree(fixture().client(), "x");
        }
    }

    @Test
    default void S12_aKilledWaiterIsPassedOver() throws Exception {
        HistoryRecordingFixture history = new HistoryRecordingFixture(fixture());
        LockClient holder = fixture().client();
        LockClient behind = fixture().client();
        ContractFixture.onlyIf(holder, Capability.CRASH_RELEASE);
        ContractFixture.onlyIf(holder, Capability.FAIR);
        try (HolderProcess killed = history.process("killed", "S12 for a killed process")) {
            killed.awaitReady();
            RecordingLease held = history.lock("holder", holder, "x").acquire();
            CompletableFuture<String> never = killed.acquire("x");
            ContractFixture.eventually(
                    "it asks", ContractFixture.LONG, () -> history.has(HistoryEvent.Asked.class, "killed"));
            ContractFixture.awaitWaiters(holder, "x", 1);
            Future<RecordingLease> waiting = fixture().start(history.lock("behind", behind, "x")::acquire);
            ContractFixture.awaitWaiters(holder, "x", 2);
            killed.kill();
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            ContractFixture.eventually(
                    "the one behind is granted", fixture().backend().takeoverWithin(), waiting::isDone);
            assertThat(never).as("what the dead one waited for").isCompletedExceptionally();
            assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(history.check().grants()).isEqualTo(2);
            fixture().assertFree(fixture().client(), "x");
        }
    }
}
