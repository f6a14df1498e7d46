// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Contract of {@code run} and {@code call}: acquire, run the body, release. */
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
        assertThat(other.named("x").tryRun(ContractFixture.PROMPT, lease -> lease.ensureHeld()))
                .isTrue();
        assertThat(client.named("x").tryCall(ContractFixture.PROMPT, lease -> {
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
    default void call_tellsThatTheLeaseWasLostMeanwhile() throws Exception {
        LockClient client = fixture().client();
        LockAdmin admin = ContractFixture.admin(fixture().client(), "LeaseLostException from run");
        assertThatThrownBy(() -> client.named("x").run(lease -> {
                    assertThat(ContractFixture.await(admin.forceRelease(
                                    "x",
                                    ContractFixture.status(admin, "x").holders().get(0))))
                            .isTrue();
                }))
                .isInstanceOf(LeaseLostException.class);
        fixture().assertFree(client, "x");
    }

    @Test
    default void callAsync_holdsUntilItsStageEnds() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        CompletableFuture<Lease> given = new CompletableFuture<>();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = client.named("x").callAsync(lease -> {
            given.complete(lease);
            return work;
        });
        Lease lent = ApiStyle.result(given);
        assertThat(lent.isHeld()).isTrue();
        ContractFixture.waitInVain(ApiStyle.SYNC, other.named("x"), Duration.ofMillis(200));
        assertThat(lent.isHeld()).isTrue();
        assertThat(result).isNotDone();
        work.complete("done");
        assertThat(ApiStyle.result(result)).isEqualTo("done");
        assertThat(lent.isHeld()).isFalse();
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

    /** An executor that runs user code on the calling thread must not give it one that the store's answer needs. */
    @Test
    default void S07_aCallbackMayWaitForTheStoreAlsoOnADirectExecutor() throws Exception {
        LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(Runnable::run));
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        CompletableFuture<ReleaseOutcome> outcome =
                client.named("x").acquireAsync().thenApply(Lease::release);
        ContractFixture.awaitWaiters(other, "x", 1);
        held.close();
        assertThat(ApiStyle.result(outcome)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    @Test
    default void callAsync_cancelledWhileItWaitsNeverRuns() throws Exception {
        LockClient client = fixture().client();
        Lease held = client.named("x").acquire();
        AtomicReference<Lease> given = new AtomicReference<>();
        CompletableFuture<String> result = client.named("x").callAsync(lease -> {
            given.set(lease);
            return CompletableFuture.completedFuture("ran");
        });
        result.cancel(true);
        held.close();
        fixture().assertFree(client, "x");
        assertThat(given.get()).isNull();
    }
}
