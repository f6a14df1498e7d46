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

/** Tests the pipe to a holder process, which uses a store in its own memory. */
class HolderProcessTest {
    private static final HistoryCheckTolerances LIMITS = HistoryCheckTolerances.takeoverWithin(Duration.ofSeconds(30));

    private final History history = new History();
    private final FencedResource resource = new FencedResource(history);

    private HolderProcess start() {
        return HolderProcess.start("p 1", "memory:own", Duration.ofSeconds(30), history, resource);
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    @Test
    void commands_areExecuted_andRecordedInTheTimeOfThisJvm() throws Exception {
        try (HolderProcess process = start()) {
            process.awaitReady();
            long before = history.now();
            assertThat(get(process.acquire("x/1")))
                    .as("the token after that of the warm-up")
                    .isEqualTo("2");
            assertThat(get(process.checkHeld("x/1"))).isTrue();
            assertThat(get(process.write("x/1"))).isTrue();
            assertThat(get(process.release("x/1"))).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(get(process.checkHeld("x/1"))).isFalse();
            long after = history.now();
            assertThat(history.events())
                    .extracting(event -> event.getClass().getSimpleName())
                    .containsExactly("Requested", "Granted", "Checked", "Wrote", "Releasing", "Released", "Checked");
            assertThat(history.events()).allSatisfy(event -> {
                assertThat(((HistoryEvent.OfCall) event).call().lock()).isEqualTo("x/1");
                assertThat(event.process()).isEqualTo("p 1");
                assertThat(event.at().latest()).isGreaterThanOrEqualTo(before);
                assertThat(event.at().earliest()).isLessThanOrEqualTo(after);
            });
            assertThat(new HistoryChecker(LIMITS).check(history).violations()).isEmpty();
        }
    }

    @Test
    void work_continuesUntilItIsStopped() throws Exception {
        try (HolderProcess process = start()) {
            CompletableFuture<Integer> leases = process.work("x", 2, 42);
            Await.until(
                    "the process records events",
                    Duration.ofSeconds(30),
                    () -> history.events().size() > 200);
            assertThat(leases).isNotDone();
            process.stop();
            int count = get(leases);
            HistoryReport report = new HistoryChecker(LIMITS).check(history);
            assertThat(report.grants()).isEqualTo(count).isPositive();
            assertThat(report.violations()).isEmpty();
        }
    }

    @Test
    void aFrozenProcess_doesNothing_andContinuesWhenResumed() throws Exception {
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
    void aKilledProcess_keepsItsEvents_andNoCommandHangs() throws Exception {
        try (HolderProcess process = start()) {
            get(process.acquire("x"));
            CompletableFuture<String> never = process.acquire("x");
            Await.until(
                    "the process has called acquire",
                    Duration.ofSeconds(30),
                    () -> history.events().size() == 3);
            process.kill();
            assertThatThrownBy(() -> get(never)).hasMessageContaining("p 1 has ended");
            assertThatThrownBy(() -> get(process.checkHeld("x"))).hasMessageContaining("p 1 has ended");
            assertThat(new HistoryChecker(LIMITS).check(history).violations()).isEmpty();
        }
    }

    @Test
    void aFailedCommand_reportsTheCause() {
        try (HolderProcess process = start()) {
            assertThatThrownBy(() -> get(process.checkHeld("x"))).hasMessageContaining("acquire must be called first");
        }
    }

    @Test
    void aProcessThatCannotConnect_reportsTheCause() {
        try (HolderProcess process = HolderProcess.start("p", "nowhere:x", Duration.ofSeconds(30), history, resource)) {
            assertThatThrownBy(process::awaitReady).hasMessageContaining("nowhere");
            assertThatThrownBy(() -> get(process.acquire("x"))).hasMessageContaining("has ended");
        }
    }
}
