// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests that the methods {@code run()} and {@code call()} acquire the lock, execute the body and release the lock. */
interface RunContract extends Contract {
    @Test
    default void call_runsUnderTheLockAndReleases() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        String result = client.named("x").call(lease -> {
            assertThat(lease.isHeld()).isTrue();
            assertThat(other.named("x").tryRun(Duration.ZERO, inner -> {})).isFalse();
            return "done";
        });
        assertThat(result).isEqualTo("done");
        assertThat(other.named("x").tryRun(ContractTestFixture.PROMPT, lease -> lease.ensureHeld()))
                .isTrue();
        assertThat(client.named("x").tryCall(ContractTestFixture.PROMPT, lease -> {
                    assertThat(other.named("x").tryCall(Duration.ZERO, inner -> "busy"))
                            .isEmpty();
                    return "done";
                }))
                .contains("done");
        fixture().assertFree(other, "x");
    }

    @Test
    default void call_passesTheBodysExceptionOnAndReleases() throws Exception {
        LockClient client = fixture().client();
        assertThatThrownBy(() -> client.named("x").run(lease -> {
                    throw new IOException("from the body");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("from the body");
        fixture().assertFree(client, "x");
    }

    @Test
    default void call_reportsALossDuringTheBody() throws Exception {
        LockClient client = fixture().client();
        LockClient operator = fixture().client();
        Throwable thrown = ContractTestFixture.thrownBy(() -> client.named("x").run(lease -> {
            fixture().forceRelease("x", operator, "LeaseLostException from run");
        }));
        assertThat(thrown).isInstanceOf(LeaseLostException.class);
        fixture().assertFree(client, "x");
    }

    @Test
    default void callAsync_holdsUntilItsStageEnds() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        CompletableFuture<Lease> started = new CompletableFuture<>();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = client.named("x").callAsync(lease -> {
            started.complete(lease);
            return work;
        });
        Lease lease = ApiStyle.result(started);
        assertThat(lease.isHeld()).isTrue();
        ContractTestFixture.assertWaitFails(ApiStyle.SYNC, other.named("x"), Duration.ofMillis(200));
        assertThat(lease.isHeld()).isTrue();
        assertThat(result).isNotDone();
        work.complete("done");
        assertThat(ApiStyle.result(result)).isEqualTo("done");
        assertThat(lease.isHeld()).isFalse();
        fixture().assertFree(other, "x");
    }

    @Test
    default void callAsync_releasesWhenTheBodyOrItsStageFails() throws Exception {
        LockClient client = fixture().client();
        assertThatThrownBy(() -> ApiStyle.result(client.named("x").callAsync(lease -> {
                    throw new IllegalStateException("thrown");
                })))
                .hasMessage("thrown");
        fixture().assertFree(client, "x");
        assertThatThrownBy(() -> ApiStyle.result(client.named("x")
                        .callAsync(lease -> CompletableFuture.failedFuture(new IllegalStateException("failed")))))
                .hasMessage("failed");
        fixture().assertFree(client, "x");
    }

    /** An executor that runs callbacks on the calling thread must not block the thread that reads the store's replies. */
    @Test
    default void S07_aCallbackMayBlockOnTheStoreEvenOnADirectExecutor() throws Exception {
        LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(Runnable::run));
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        CompletableFuture<ReleaseOutcome> outcome =
                client.named("x").acquireAsync().thenApply(Lease::release);
        ContractTestFixture.awaitWaiters(other, "x", 1);
        held.close();
        assertThat(ApiStyle.result(outcome)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    @Test
    default void callAsync_cancelledWhileItWaitsNeverRuns() throws Exception {
        LockClient client = fixture().client();
        Lease held = client.named("x").acquire();
        AtomicReference<Lease> started = new AtomicReference<>();
        CompletableFuture<String> result = client.named("x").callAsync(lease -> {
            started.set(lease);
            return CompletableFuture.completedFuture("ran");
        });
        result.cancel(true);
        held.close();
        fixture().assertFree(client, "x");
        assertThat(started.get()).isNull();
    }
}
