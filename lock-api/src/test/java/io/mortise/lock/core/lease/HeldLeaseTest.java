// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.client.NoopBackend;
import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.core.runtime.RecordedLog;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** Tests one lease, with the services of the core but without a client. */
class HeldLeaseTest {
    private static final Duration DURATION = Duration.ofSeconds(30);
    private static final LockName LOCK = new LockName("x");

    private Executor callbacks = Runnable::run;
    private final ManualClock clock = new ManualClock();
    private final RecordedLog recorded = new RecordedLog();
    private final ThrottledLog warnings = new ThrottledLog(clock, recorded.logger);
    private final LastResponse lastResponse = new LastResponse(clock);
    private final LeaseKeeper keeper =
            new LeaseKeeper(clock, lastResponse, new RenewalLog(clock, warnings), Duration.ofSeconds(1), new Random(1));
    private final HeldLeases holders = new HeldLeases(warnings, () -> {});
    private final CleanupRetrier retrier = new CleanupRetrier(clock, new Random(1), warnings, () -> {});
    private boolean timersFail;
    private final LockClock timers = new LockClock() {
        @Override
        public MonotonicInstant now() {
            return clock.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            if (timersFail) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return clock.schedule(delay, task);
        }
    };
    private final LeaseServices services = new LeaseServices(
            timers,
            Duration.ofSeconds(1),
            new NoopBackend("test") {
                @Override
                public Contender enqueue(LockRequest request, ContenderListener listener) {
                    throw new UnsupportedOperationException();
                }
            },
            Set.of(Capability.FENCING),
            keeper,
            holders,
            new ContenderRemovals(clock, lastResponse, retrier, name -> {}),
            new CallbackExecutor(Optional.of(task -> callbacks.execute(task)), true),
            warnings);

    /** The results of the next tries to end the contender; after these it is removed. */
    private final Queue<CompletionStage<Boolean>> results = new ArrayDeque<>();

    private final class Scripted implements Contender {
        @Override
        public CompletionStage<AttemptResult> attempt() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Boolean> end() {
            CompletionStage<Boolean> next = results.poll();
            return next == null ? CompletableFuture.completedFuture(true) : next;
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            return type == String.class ? Optional.of(type.cast("extension")) : Optional.empty();
        }
    }

    private GrantValidity validity = validity(); // of the last lease

    private GrantValidity validity() {
        return new GrantValidity(clock, DURATION, clock.now().plus(DURATION)) {};
    }

    private static CompletionStage<Boolean> silent() {
        return CompletableFuture.failedFuture(new IllegalStateException("no answer"));
    }

    private HeldLease lease() {
        validity = validity();
        return new HeldLease(
                services,
                LOCK,
                new Scripted(),
                "owner",
                new AttemptResult.Granted(1, validity),
                LockOptions.defaults(),
                DURATION);
    }

    private HeldLease held() {
        HeldLease lease = lease();
        assertThat(lease.begin()).isTrue();
        return lease;
    }

    private List<String> warned() {
        return recorded.lines(Level.WARN);
    }

    @Test
    void S05_aGrantThatAnEarlierTryMayHaveRemovedWasReleasedIfItWasStillValid() {
        results.add(silent());
        results.add(CompletableFuture.completedFuture(false));
        CompletableFuture<ReleaseOutcome> released = held().releaseAsync();
        assertThat(released).isNotDone();
        clock.advance(Duration.ofMillis(100));
        assertThat(released).isCompletedWithValue(ReleaseOutcome.RELEASED);
    }

    @Test
    void S05_aGrantThatEndedBeforeTheRepeatedTryIsUnknown() {
        HeldLease lease = held();
        clock.advance(DURATION.minusMillis(10));
        results.add(silent());
        results.add(CompletableFuture.completedFuture(false));
        CompletableFuture<ReleaseOutcome> released = lease.releaseAsync();
        clock.advance(Duration.ofMillis(100));
        assertThat(released).isCompletedWithValue(ReleaseOutcome.UNKNOWN);
    }

    @Test
    void S05_aGrantThatEndedWhileItsReleaseWasOnItsWayIsUnknown() {
        HeldLease lease = held();
        clock.advance(DURATION.minusMillis(10));
        CompletableFuture<Boolean> slow = new CompletableFuture<>();
        results.add(slow);
        CompletableFuture<ReleaseOutcome> released = lease.releaseAsync();
        clock.advance(Duration.ofMillis(100));
        slow.complete(false);
        assertThat(released).isCompletedWithValue(ReleaseOutcome.UNKNOWN);
    }

    @Test
    void S05_aGrantThatARenewalFoundMissingWhileItsReleaseWasOnItsWayIsLost() {
        HeldLease lease = held();
        CompletableFuture<Boolean> slow = new CompletableFuture<>();
        results.add(slow);
        CompletableFuture<ReleaseOutcome> released = lease.releaseAsync();
        validity.lost(new LossReason(LossReason.Kind.REMOVED, "not there"));
        slow.complete(false);
        assertThat(released).isCompletedWithValue(ReleaseOutcome.LOST);
    }

    @Test
    void S05_anOutcomeThatIsKnownAtOnceDoesNotWaitForTheCallbackExecutor() {
        callbacks = task -> {};
        HeldLease lease = held();
        assertThat(lease.releaseAsync()).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(lease.releaseAsync()).isCompletedWithValue(ReleaseOutcome.RELEASED);
    }

    @Test
    void S05_aReleaseWithoutATimerIsSentAndUnknown() {
        HeldLease lease = held();
        results.add(CompletableFuture.completedFuture(true));
        timersFail = true;
        assertThat(lease.releaseAsync()).isCompletedWithValue(ReleaseOutcome.UNKNOWN);
        assertThat(lease.isHeld()).isFalse();
        assertThat(results).as("requests that were not sent").isEmpty();
        assertThat(holders.size()).isZero();
    }

    @Test
    void S05_onlyACloseThatDidNotReleaseIsLogged() {
        held().close();
        assertThat(warned()).isEmpty();
        results.add(CompletableFuture.completedFuture(false));
        held().close();
        assertThat(warned()).last().isEqualTo("WARN event=close-not-released lock=\"x\" owner=owner outcome=LOST");
    }

    @Test
    void S04_aWaitForALockOfTheSameClientIsLoggedOncePerLease() {
        holders.warnOfSelfWait(LOCK, "waiter");
        assertThat(warned()).isEmpty();
        held();
        assertThat(holders.size()).isEqualTo(1);
        holders.warnOfSelfWait(new LockName("y"), "waiter");
        assertThat(warned()).isEmpty();
        holders.warnOfSelfWait(LOCK, "waiter");
        holders.warnOfSelfWait(LOCK, "another");
        assertThat(warned())
                .singleElement()
                .asString()
                .startsWith("WARN event=self-wait lock=\"x\" holder=owner waiter=waiter ");
    }

    @Test
    void S16_aGrantThatArrivesAfterTheCloseIsNoLease() {
        holders.close(new LossReason(LossReason.Kind.CLIENT_CLOSED, "test"));
        HeldLease lease = lease();
        assertThat(lease.begin()).isFalse();
        lease.discard();
        assertThat(lease.isHeld()).isFalse();
        assertThat(holders.size() + keeper.size()).isZero();
    }

    @Test
    void S07_onExpiringRunsOnceAndNotAfterTheEnd() {
        List<String> ran = new ArrayList<>();
        HeldLease lease = held();
        lease.onExpiring(DURATION, () -> ran.add("at once"));
        assertThat(ran).containsExactly("at once");
        lease.onExpiring(Duration.ofSeconds(5), () -> ran.add("later"));
        clock.advance(DURATION.multipliedBy(2));
        assertThat(ran).containsExactly("at once", "later");
        assertThat(lease.isHeld()).isFalse();
        lease.onExpiring(Duration.ofSeconds(5), () -> ran.add("after the end"));
        assertThat(ran).containsExactly("at once", "later");
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void aLeaseUnwrapsTheExtensionOfItsBackend() {
        assertThat(held().unwrap(String.class)).contains("extension");
        assertThat(held().unwrap(Integer.class)).isEmpty();
    }
}
