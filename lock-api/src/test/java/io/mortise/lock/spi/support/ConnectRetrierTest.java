// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Tests which failures of the first connection are retried, and the exceptions after a timeout. */
class ConnectRetrierTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(300);

    private final Future<String> silent = new CompletableFuture<>();
    private int tries;

    private static ConnectRetrier within(Duration limit) {
        return ConnectRetrier.of("h1:1", limit);
    }

    private static BackendRefusedException refused(Throwable failure) {
        return new BackendRefusedException("refused: " + failure.getCause(), failure);
    }

    private String unavailable() {
        tries++;
        throw new BackendUnavailableException("try " + tries);
    }

    @Test
    void S15_aSilentServerEndsInATimeout() {
        assertThatThrownBy(() -> within(SHORT).await(silent, ConnectRetrierTest::refused))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("no answer from h1:1 in 300 ms")
                .hasNoCause(); // logs would print "TimeoutException: null"
        assertThatThrownBy(() ->
                        within(SHORT).withTimeoutMessage(() -> "no quorum").await(silent, ConnectRetrierTest::refused))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("no quorum");
    }

    @Test
    void S15_aFailureIsMappedToItsException() {
        Future<String> failed = CompletableFuture.failedFuture(new IOException("no"));
        assertThatThrownBy(() -> within(LONG).await(failed, ConnectRetrierTest::refused))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessage("refused: java.io.IOException: no");
    }

    @Test
    void S15_anInterruptEndsTheWaitAndKeepsTheFlag() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> within(LONG).await(silent, ConnectRetrierTest::refused))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("interrupted while connecting to h1:1")
                .hasNoCause();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void S15_aServerThatIsNotUpYetIsRetried() {
        assertThat(within(LONG).<String>retry(() -> tries < 2 ? unavailable() : "there"))
                .isEqualTo("there");
        assertThat(tries).isEqualTo(2);
    }

    @Test
    void S15_aTimeoutNamesTheLastFailure() {
        assertThatThrownBy(() -> within(SHORT).retry(this::unavailable))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageMatching("(no answer from h1:1 in 300 ms: )?try [1-3]");
        assertThat(tries).isBetween(1, 3);
    }

    /** The last try runs into the timeout. */
    @Test
    void S15_aTimeoutInTheLastTryNamesTheFailureOfAnEarlierOne() {
        ConnectRetrier deadline = within(SHORT);
        assertThatThrownBy(() -> deadline.retry(
                        () -> tries < 1 ? unavailable() : deadline.await(silent, ConnectRetrierTest::refused)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("try 1");
    }

    @Test
    void S15_aRejectionOrAnInterruptIsNotRetried() {
        assertThatThrownBy(() -> within(LONG).retry(() -> {
                    tries++;
                    throw new BackendRefusedException("no");
                }))
                .isInstanceOf(BackendRefusedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> within(LONG).retry(this::unavailable)).hasMessage("try 2");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void S15_aLinkageErrorIsNotRetried() {
        NoClassDefFoundError missing = new NoClassDefFoundError("org/assertj/core/Missing");
        assertThatThrownBy(() -> within(LONG).retry(() -> {
                    tries++;
                    throw new BackendUnavailableException("no answer", missing);
                }))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("assertj-core");
        assertThat(tries).isEqualTo(1);
        assertThatThrownBy(
                        () -> within(LONG).await(CompletableFuture.failedFuture(missing), ConnectRetrierTest::refused))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("assertj-core");
    }
}
