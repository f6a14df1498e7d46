// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** On a store in the child's own memory: what is tested here is the pipe. */
class HolderProcessTest {
    private static final HistoryTimeLimits BOUNDS = HistoryTimeLimits.takeoverWithin(Duration.ofSeconds(30));

    private final History history = new History();
    private final FencedResource resource = new FencedResource(history);

    private HolderProcess start() {
        return HolderProcess.start("p 1", "memory:own", Duration.ofSeconds(30), history, resource);
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    @Test
    void commands_areCarriedOut_andRecordedInTheTimeOfThisJvm() throws Exception {
        try (HolderProcess process = start()) {
            process.awaitReady();
            long before = history.now();
            assertThat(get(process.acquire("x/1")))
                    .as("after the one of the warm-up")
                    .isEqualTo("2");
            assertThat(get(process.checkHeld("x/1"))).isTrue();
            assertThat(get(process.write("x/1"))).isTrue();
            assertThat(get(process.release("x/1"))).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(get(process.checkHeld("x/1"))).isFalse();
            long after = history.now();
            assertThat(history.events())
                    .extracting(event -> event.getClass().getSimpleName())
                    .containsExactly("Asked", "Granted", "Checked", "Wrote", "Releasing", "Released", "Checked");
            assertThat(history.events()).allSatisfy(event -> {
                assertThat(((HistoryEvent.OfCall) event).call().lock()).isEqualTo("x/1");
                assertThat(event.process()).isEqualTo("p 1");
                assertThat(event.at().latest()).isGreaterThanOrEqualTo(before);
                assertThat(event.at().earliest()).isLessThanOrEqualTo(after);
            });
            assertThat(new HistoryChecker(BOUNDS).check(history).violations()).isEmpty();
        }
    }

    @Test
    void work_goesOnUntilItIsStopped() throws Exception {
        try (HolderProcess process = start()) {
            CompletableFuture<Integer> leases = process.work("x", 2, 42);
            Await.until(
                    "it works", Duration.ofSeconds(30), () -> history.events().size() > 200);
            assertThat(leases).isNotDone();
            process.stop();
            int count = get(leases);
            HistoryReport report = new HistoryChecker(BOUNDS).check(history);
            assertThat(report.grants()).isEqualTo(count).isPositive();
            assertThat(report.violations()).isEmpty();
        }
    }

    @Test
    void frozen_itDoesNothing_andGoesOnWhereItWas() throws Exception {
        try (HolderProcess process = start()) {
            get(process.acquire("x"));
            process.pause();
            CompletableFuture<Boolean> check = process.checkHeld("x");
            assertThatThrownBy(() -> check.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            process.resume();
            assertThat(get(check)).isTrue();
            assertThat(history.events().stream()
                            .filter(event -> event instanceof HistoryEvent.Disturbed)
                            .map(event -> ((HistoryEvent.Disturbed) event).kind()))
                    .containsExactly(HistoryEvent.Disturbed.Kind.PAUSED, HistoryEvent.Disturbed.Kind.RESUMED);
        }
    }

    @Test
    void killed_itLeavesWhatItSaid_andNoCommandHangs() throws Exception {
        try (HolderProcess process = start()) {
            get(process.acquire("x"));
            CompletableFuture<String> never = process.acquire("x");
            Await.until(
                    "it has asked",
                    Duration.ofSeconds(30),
                    () -> history.events().size() == 3);
            process.kill();
            assertThatThrownBy(() -> get(never)).hasMessageContaining("p 1 has ended");
            assertThatThrownBy(() -> get(process.checkHeld("x"))).hasMessageContaining("p 1 has ended");
            assertThat(new HistoryChecker(BOUNDS).check(history).violations()).isEmpty();
        }
    }

    @Test
    void aCommandThatFails_saysWhy() {
        try (HolderProcess process = start()) {
            assertThatThrownBy(() -> get(process.checkHeld("x"))).hasMessageContaining("acquire comes first");
        }
    }

    @Test
    void aProcessThatCannotConnect_saysWhy() {
        try (HolderProcess process = HolderProcess.start("p", "nowhere:x", Duration.ofSeconds(30), history, resource)) {
            assertThatThrownBy(process::awaitReady).hasMessageContaining("nowhere");
            assertThatThrownBy(() -> get(process.acquire("x"))).hasMessageContaining("has ended");
        }
    }
}
