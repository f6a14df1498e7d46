// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.spi.LockName;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests what an interrupt does to a wait that has, or does not have, an outcome. */
class InterruptibleWaitTest {
    private static final LockName LOCK = new LockName("x");

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void S10_anInterruptThatWithdrawsTheRequestIsThrown() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> InterruptibleWait.await(new CompletableFuture<>(), LOCK, () -> true))
                .isInstanceOf(InterruptedException.class)
                .hasMessageContaining("x");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void S10_anInterruptThatCoincidesWithTheOutcomeKeepsItsFlag() throws InterruptedException {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread.currentThread().interrupt();
        String result = InterruptibleWait.await(outcome, LOCK, () -> !outcome.complete("granted"));
        assertThat(result).isEqualTo("granted");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptEndsTheWaitForARelease() {
        Thread.currentThread().interrupt();
        assertThat(InterruptibleWait.awaitOr(new CompletableFuture<>(), "later"))
                .isEqualTo("later");
        assertThat(Thread.interrupted()).isTrue();
        Thread.currentThread().interrupt();
        assertThat(InterruptibleWait.awaitOr(CompletableFuture.completedFuture("now"), "later"))
                .isEqualTo("now");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aWaitForAReleaseReturnsItsOutcome() {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread completes = new Thread(() -> outcome.complete("released"));
        completes.start();
        assertThat(InterruptibleWait.awaitOr(outcome, "later")).isEqualTo("released");
        assertThat(Thread.interrupted()).isFalse();
    }
}
