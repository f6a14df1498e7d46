// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Tests that cleanups are repeated until the store responds, their time has passed, or the client closes. */
class CleanupRetrierTest {
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final LockName LOCK = new LockName("x");

    private final ManualClock clock = new ManualClock();
    private final List<String> events = new ArrayList<>();
    private final CleanupRetrier retrier = retrier(clock);
    private final LastResponse lastResponse = new LastResponse(clock);
    private final ContenderRemovals removals =
            new ContenderRemovals(clock, lastResponse, retrier, name -> events.add("may be free: " + name));

    /** The result of the next tries. */
    private CompletableFuture<Boolean> result = CompletableFuture.failedFuture(new IllegalStateException("no answer"));

    private int tries;

    private CleanupRetrier retrier(LockClock with) {
        return new CleanupRetrier(with, new Random(1), new ThrottledLog(clock), () -> events.add("ended"));
    }

    private void remove() {
        Contender contender = new Contender() {
            @Override
            public CompletionStage<AttemptResult> attempt() {
                throw new UnsupportedOperationException();
            }

            @Override
            public CompletionStage<Boolean> end() {
                tries++;
                return result;
            }

            @Override
            public void abandon() {
                events.add("abandoned");
            }
        };
        removals.remove(LOCK, contender, LEASE);
    }

    private PendingCleanup<Boolean> cleanup() {
        MonotonicInstant until = clock.now().plus(LEASE);
        return new PendingCleanup<>("test", () -> result, until, new PendingCleanup.Listener<>() {
            @Override
            public void givenUp(Throwable last) {
                events.add("given up: " + last.getClass().getSimpleName());
            }
        });
    }

    @Test
    void S08_aRemovalIsRepeatedUntilTheStoreResponds() {
        remove();
        clock.advance(Duration.ofSeconds(3));
        assertThat(tries).isGreaterThan(3);
        lastResponse.failed(clock.now());
        result = CompletableFuture.completedFuture(false);
        clock.advance(Duration.ofSeconds(2));
        assertThat(events).as("an earlier try may have removed it").containsExactly("may be free: x", "ended");
        assertThat(lastResponse.contact().failing(clock.now())).as("S15").isZero();
        assertThat(retrier.isEmpty()).isTrue();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S08_onlyARemovalThatMayHaveRemovedSomethingWakesAWaiter() {
        result = CompletableFuture.completedFuture(false);
        remove();
        assertThat(events).containsExactly("ended");
        events.clear();
        result = CompletableFuture.completedFuture(true);
        remove();
        assertThat(events).containsExactly("may be free: x", "ended");
    }

    @Test
    void S08_aRemovalWithoutResponseForALeaseDurationIsAbandoned() {
        remove();
        clock.advance(LEASE.minusMillis(1));
        assertThat(events).isEmpty();
        clock.advance(Duration.ofMillis(1));
        assertThat(events).containsExactly("abandoned", "ended");
        assertThat(retrier.isEmpty()).isTrue();
    }

    @Test
    void S08_aRemovalIsRepeatedAndAbandonedAlsoIfItsFailureCannotBeLogged() {
        result = CompletableFuture.failedFuture(
                new CompletionException() { // a future prints all others
                    @Override
                    public String getMessage() {
                        throw new IllegalStateException("for the test");
                    }
                });
        remove();
        clock.advance(LEASE.minusMillis(1));
        assertThat(tries).isGreaterThan(3);
        clock.advance(Duration.ofMillis(1));
        assertThat(events).containsExactly("abandoned", "ended");
    }

    /** Otherwise a session, with all leases on it, would end although the store has responded to everything since. */
    @Test
    void S08_aTryThatHangsBeyondTheLeaseDurationIsNotTheLast() {
        CompletableFuture<Boolean> hanging = new CompletableFuture<>();
        result = hanging;
        remove();
        clock.advance(LEASE.plusSeconds(1));
        result = CompletableFuture.completedFuture(true);
        hanging.completeExceptionally(new IllegalStateException("no answer"));
        clock.advance(Duration.ZERO);
        assertThat(tries).isEqualTo(2);
        assertThat(events).containsExactly("may be free: x", "ended");
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S08_aTryThatHangsAfterTheLeaseDurationIsTheLast() {
        remove();
        CompletableFuture<Boolean> hanging = new CompletableFuture<>();
        clock.advance(LEASE.minusMillis(1));
        result = hanging;
        clock.advance(Duration.ofSeconds(5));
        assertThat(events).isEmpty();
        hanging.completeExceptionally(new IllegalStateException("no answer"));
        clock.advance(Duration.ZERO);
        assertThat(events).containsExactly("abandoned", "ended");
    }

    /** An abandoned contender may end a whole session, which the backend ends itself when the client closes. */
    @Test
    void S16_S17_aCloseEndsRetriesAndAbandonsNothing() {
        remove();
        assertThat(retrier.stop()).containsExactly("withdrawal from lock \"x\"");
        assertThat(events).isEmpty();
        assertThat(retrier.isEmpty()).isTrue();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S16_aCleanupAfterTheCloseIsGivenUp() {
        retrier.stop();
        retrier.begin(cleanup());
        assertThat(events).containsExactly("given up: ClientClosedException");
        assertThat(retrier.isEmpty()).isTrue();
    }

    @Test
    void S17_aCloseThatCoincidesWithARetryLeavesNoTimer() {
        List<CleanupRetrier> closing = new ArrayList<>();
        CleanupRetrier closed = retrier(new LockClock() {
            @Override
            public MonotonicInstant now() {
                return clock.now();
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                Timer timer = clock.schedule(delay, task);
                closing.forEach(CleanupRetrier::stop);
                return timer;
            }
        });
        closing.add(closed);
        closed.begin(cleanup());
        assertThat(events).containsExactly("given up: ClientClosedException");
        assertThat(clock.timerCount()).isZero();
    }
}
