// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.runtime.ClientScopedClock;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that the core does not hang if a backend throws, returns invalid results or completes on the calling thread. */
class FaultyBackendTest {
    private static final Duration LEASE = NoopBackend.LEASE;
    private static final int CROWD = 5000;

    private final ManualClock clock = new ManualClock();
    private final List<ContenderListener> listeners = new ArrayList<>();
    private Supplier<CompletionStage<AttemptResult>> attempt = this::granted;
    private Supplier<CompletionStage<Boolean>> end = () -> CompletableFuture.completedFuture(true);
    private Runnable close = () -> {};
    private Consumer<List<GrantValidity>> renew = due -> {};
    private int attempts;
    private int ends;

    private CoreClient open(ClientOptions options) {
        ClientScopedClock scoped = new ClientScopedClock(clock);
        return CoreClient.open(context -> new Backend(), options, scoped, new Random(1), scoped::stop);
    }

    private CoreClient open() {
        return open(ClientOptions.defaults().callbackExecutor(Runnable::run));
    }

    @Test
    void S15_incompatibleLibrariesAreAConfigurationError() {
        assertThatThrownBy(() -> CoreClient.open(
                        context -> {
                            throw new NoClassDefFoundError("org/assertj/core/Missing");
                        },
                        ClientOptions.defaults()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("assertj-core");
    }

    private static CompletionStage<AttemptResult> busy() {
        return CompletableFuture.completedFuture(new AttemptResult.Waiting(Duration.ofSeconds(5)));
    }

    private CompletionStage<AttemptResult> granted() {
        return CompletableFuture.completedFuture(new AttemptResult.Granted(attempts, new Grant()));
    }

    private static <T> CompletionStage<T> silent() {
        return CompletableFuture.failedFuture(new BackendUnavailableException("no answer from odd:1"));
    }

    @Test
    void S09_S15_aBoundedWaitOnAHealthyStoreEndsBusyWhateverItsLimit() {
        attempt = FaultyBackendTest::busy;
        CoreClient client = open();
        for (int millis = 4_000; millis < 13_000; millis += 50) {
            CompletableFuture<Optional<Lease>> wait = client.named("x").tryAcquireAsync(Duration.ofMillis(millis));
            clock.advance(Duration.ofMillis(millis));
            assertThat(wait).as("after %d ms", millis).isCompletedWithValue(Optional.empty());
        }
    }

    @Test
    void S15_oneFailureAfterATimeWithoutRequestsEndsNoWait() {
        attempt = FaultyBackendTest::busy;
        CoreClient client =
                open(ClientOptions.defaults().callbackExecutor(Runnable::run).unavailableAfter(Duration.ofSeconds(5)));
        CompletableFuture<Lease> wait = client.named("x").acquireAsync();
        attempt = FaultyBackendTest::silent;
        clock.advance(Duration.ofSeconds(6));
        assertThat(attempts).isGreaterThanOrEqualTo(2);
        assertThat(wait).isNotDone();
        attempt = this::granted;
        clock.advance(Duration.ofSeconds(2));
        assertThat(wait.join().isHeld()).isTrue();
    }

    /** Also checks a caller that gives up during an attempt, since the withdrawal must wait for the end of the attempt. */
    @Test
    void S10_isStillWaitingIsFalseAfterTheCallerGaveUp() {
        CompletableFuture<AttemptResult> pending = new CompletableFuture<>();
        attempt = () -> pending;
        CoreClient client = open();
        CompletableFuture<Lease> wait = client.named("x").acquireAsync();
        assertThat(listeners.get(0).isStillWaiting()).isTrue();
        wait.cancel(true);
        assertThat(listeners.get(0).isStillWaiting()).isFalse();
        assertThat(ends).isZero();
        pending.complete(new AttemptResult.Waiting(Duration.ofSeconds(5)));
        assertThat(ends).isEqualTo(1);
        attempt = FaultyBackendTest::busy;
        CompletableFuture<Optional<Lease>> bounded = client.named("x").tryAcquireAsync(Duration.ofSeconds(3));
        assertThat(listeners.get(1).isStillWaiting()).isTrue();
        clock.advance(Duration.ofSeconds(3));
        assertThat(bounded).isCompletedWithValue(Optional.empty());
        assertThat(listeners.get(1).isStillWaiting()).isFalse();
    }

    @Test
    void S08_aFailureOfTheNextInTheQueueOrphansNoGrant() {
        attempt = FaultyBackendTest::busy;
        CoreClient client = open();
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        CompletableFuture<Lease> second = client.named("x").acquireAsync();
        Deque<Supplier<CompletionStage<AttemptResult>>> results = new ArrayDeque<>();
        results.add(this::granted);
        results.add(() -> {
            throw new NoClassDefFoundError("odd");
        });
        attempt = () -> results.remove().get();
        listeners.get(0).wake();
        assertThat(first.join().isHeld()).isTrue();
        assertThatThrownBy(second::join).hasCauseInstanceOf(BackendRefusedException.class);
        assertThat(client.queues.size()).isZero();
    }

    @Test
    void S15_allOfManyWaitersFailIfTheStoreRejectsEach() {
        attempt = FaultyBackendTest::busy;
        CoreClient client = open();
        List<CompletableFuture<Lease>> crowd = crowd(client);
        attempt = () -> CompletableFuture.failedFuture(new BackendRefusedException("no"));
        listeners.get(0).wake();
        assertThat(crowd).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(client.queues.size()).isZero();
    }

    @Test
    void S11_allOfManyWaitersAreGrantedIfEachReleasesInItsCallback() {
        attempt = FaultyBackendTest::busy;
        CoreClient client = open();
        List<CompletableFuture<Lease>> crowd = crowd(client);
        crowd.forEach(waiter -> waiter.thenAccept(Lease::releaseAsync));
        attempt = this::granted;
        listeners.get(0).wake();
        assertThat(crowd).allMatch(CompletableFuture::isDone);
        assertThat(ends).isEqualTo(CROWD);
        assertThat(client.holders.size()).isZero();
    }

    private static List<CompletableFuture<Lease>> crowd(CoreClient client) {
        List<CompletableFuture<Lease>> crowd = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            crowd.add(client.named("x").acquireAsync());
        }
        return crowd;
    }

    @Test
    void S08_S10_aFutureCancelledBeforeDeliveryReleasesTheGrantImmediately() {
        Deque<Runnable> busyExecutor = new ArrayDeque<>();
        Executor executor = busyExecutor::add;
        CoreClient client = open(ClientOptions.defaults().callbackExecutor(executor));
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        CompletableFuture<Void> body = client.named("y").callAsync(lease -> new CompletableFuture<>());
        CompletableFuture<Integer> stage = future.handle((lease, failure) -> ends);
        future.cancel(true);
        assertThat(stage).as("also before the caller's own stages").isCompletedWithValue(1);
        body.cancel(true);
        assertThat(ends).isEqualTo(2);
        assertThat(client.holders.size()).isZero();
        busyExecutor.forEach(Runnable::run);
        assertThat(ends).isEqualTo(2);
    }

    @Test
    @SuppressWarnings("NullAway") // the test passes null on purpose
    void S15_anAttemptWithAnInvalidResultFailsItsCaller() {
        CoreClient client = open();
        List<Supplier<CompletionStage<AttemptResult>>> invalid = List.of(
                () -> CompletableFuture.completedFuture(null),
                () -> null,
                () -> {
                    throw new StackOverflowError();
                },
                () -> CompletableFuture.completedFuture(new AttemptResult.Granted(1, null)));
        for (Supplier<CompletionStage<AttemptResult>> odd : invalid) {
            attempt = odd;
            assertThatThrownBy(() -> client.named("x").acquireAsync().join())
                    .hasCauseInstanceOf(BackendRefusedException.class);
        }
        client.close();
        assertThat(clock.timerCount()).isZero();
    }

    /** A clock that fails as if the memory or the number of threads were exhausted. */
    private final class FailingClock implements LockClock {
        private boolean nowFails;
        private Predicate<Duration> timerFails = delay -> false;

        @Override
        public MonotonicInstant now() {
            if (nowFails) {
                nowFails = false;
                throw new OutOfMemoryError("for the test");
            }
            return clock.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            if (timerFails.test(delay)) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return clock.schedule(delay, task);
        }

        CoreClient open() {
            ClientOptions options = ClientOptions.defaults().callbackExecutor(Runnable::run);
            return CoreClient.open(context -> new Backend(), options, this, new Random(1), () -> {});
        }
    }

    @Test
    void S15_aResultThatCannotBeHandledFailsItsCaller() {
        FailingClock failing = new FailingClock();
        CompletableFuture<AttemptResult> pending = new CompletableFuture<>();
        attempt = () -> pending;
        CoreClient client = failing.open();
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        failing.nowFails = true;
        pending.complete(new AttemptResult.Granted(1, new Grant()));
        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("OutOfMemoryError: for the test");
        assertThat(ends).as("the grant is removed").isEqualTo(1);
        assertThat(client.acquires.size() + client.queues.size()).isZero();
    }

    @Test
    void S08_aGrantWhoseLeaseCannotBeginIsRemovedAndReplaced() throws Exception {
        FailingClock failing = new FailingClock();
        Duration maxHold = Duration.ofSeconds(77);
        AtomicBoolean first = new AtomicBoolean(true);
        failing.timerFails = delay -> delay.equals(maxHold) && first.getAndSet(false);
        CoreClient client = failing.open();
        CompletableFuture<Lease> future =
                client.named("x", LockOptions.defaults().maxHold(maxHold)).acquireAsync();
        assertThat(future.get(20, TimeUnit.SECONDS).isHeld()).isTrue();
        assertThat(List.of(attempts, ends, client.holders.size(), client.keeper.size()))
                .as("attempts, ends, leases, renewed leases")
                .containsExactly(2, 1, 1, 1);
    }

    @Test
    void S15_aPauseWithoutATimerFailsItsCaller() {
        FailingClock failing = new FailingClock();
        CompletableFuture<AttemptResult> pending = new CompletableFuture<>();
        attempt = () -> pending;
        CoreClient client = failing.open();
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        failing.timerFails = delay -> true;
        pending.complete(new AttemptResult.Waiting(Duration.ofSeconds(5)));
        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("unable to create native thread");
        assertThat(ends).isEqualTo(1);
        assertThat(client.acquires.size() + client.queues.size()).isZero();
    }

    /** A future of an application, to which no stage can be added. */
    private static final class OddFuture<T> extends CompletableFuture<T> {
        @Override
        public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
            throw new UnsupportedOperationException("odd");
        }
    }

    @Test
    void S08_callAsyncReleasesIfTheStageOfTheBodyIsOdd() {
        CoreClient client = open();
        CompletableFuture<String> result = client.named("x").callAsync(lease -> new OddFuture<>());
        assertThat(result).isCompletedExceptionally();
        assertThatThrownBy(result::join).hasCauseInstanceOf(UnsupportedOperationException.class);
        assertThat(ends).isEqualTo(1);
        assertThat(client.holders.size()).isZero();
    }

    @Test
    void S11_aPauseOfZeroCausesNoBusyLoop() {
        attempt = () -> CompletableFuture.completedFuture(new AttemptResult.Waiting(Duration.ZERO));
        CompletableFuture<Lease> wait = open().named("x").acquireAsync();
        assertThat(attempts).isEqualTo(1);
        attempt = this::granted;
        clock.advance(Duration.ofMillis(2));
        assertThat(wait).isCompleted();
    }

    @Test
    void S05_S16_anEndWithAnInvalidResultIsUnknownAndBlocksNoClose() {
        List<Supplier<CompletionStage<Boolean>>> invalid =
                List.of(() -> CompletableFuture.completedFuture(null), () -> null, () -> {
                    throw new StackOverflowError();
                });
        for (Supplier<CompletionStage<Boolean>> odd : invalid) {
            CoreClient client = open();
            end = odd;
            CompletableFuture<ReleaseOutcome> released =
                    client.named("x").acquireAsync().join().releaseAsync();
            clock.advance(LEASE.plusSeconds(2));
            assertThat(released).isCompletedWithValue(ReleaseOutcome.UNKNOWN);
            assertThat(client.beginClose()).isCompleted();
            client.close();
        }
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S07_aListenerThatThrowsDoesNotHideTheLossFromOthers() {
        List<String> notified = new ArrayList<>();
        GrantValidity session = new GrantValidity(clock, LEASE, clock.now().plus(LEASE)) {
            @Override
            protected void onLost(LossReason reason) {
                notified.add("session");
            }
        };
        session.attach(reason -> {
            throw new OutOfMemoryError("no thread");
        });
        session.attach(reason -> notified.add("second"));
        session.lost(new LossReason(LossReason.Kind.SESSION_ENDED, "test"));
        assertThat(notified).containsExactly("second", "session");
    }

    @Test
    void S07_theLossTellsTheFailureOfTheRenewals() {
        renew = due -> {
            throw new IllegalStateException("the backend cannot renew " + due.size());
        };
        Lease lease = open().named("x").acquireAsync().join();
        CompletableFuture<LossReason> lost = lease.lost();
        clock.advance(LEASE.dividedBy(2));
        assertThat(lost).isNotDone();
        clock.advance(LEASE.multipliedBy(100));
        assertThat(lost)
                .isCompletedWithValue(new LossReason(
                        LossReason.Kind.EXPIRED,
                        "no renewal succeeded before the deadline: the backend cannot renew 1"));
    }

    /** When the close begins, the lease is not held any more, and its release is not sent yet. */
    @Test
    void S16_aCloseWaitsForAReleaseThatHasJustBegun() {
        Duration maxHold = Duration.ofSeconds(77);
        AtomicReference<@Nullable CoreClient> client = new AtomicReference<>();
        List<CompletableFuture<Void>> closed = new ArrayList<>();
        LockClock closesDuringRelease = new LockClock() {
            @Override
            public MonotonicInstant now() {
                return clock.now();
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                Timer timer = clock.schedule(delay, task);
                return !delay.equals(maxHold)
                        ? timer
                        : () -> {
                            closed.add(Objects.requireNonNull(client.get()).beginClose());
                            assertThat(closed.get(0)).isNotDone();
                        };
            }
        };
        ClientOptions options = ClientOptions.defaults().callbackExecutor(Runnable::run);
        CoreClient opened =
                CoreClient.open(context -> new Backend(), options, closesDuringRelease, new Random(1), () -> {});
        client.set(opened);
        LockOptions limited = LockOptions.defaults().maxHold(maxHold);
        Lease lease = opened.named("x", limited).acquireAsync().join();
        assertThat(lease.releaseAsync()).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(ends).isEqualTo(1);
        assertThat(closed).singleElement().satisfies(done -> assertThat(done).isDone());
    }

    @Test
    void S16_closeClosesTheBackendOnce() {
        int[] closed = new int[1];
        close = () -> closed[0]++;
        CoreClient client = open();
        client.named("x").acquireAsync().join();
        assertThat(client.toString()).doesNotContain("closed");
        client.close();
        client.close();
        assertThat(closed).containsExactly(1);
        assertThat(client.toString()).startsWith("LockClient[odd:1, client ").endsWith(", closed]");
        assertThat(clock.timerCount()).isZero();
    }

    /** Otherwise a store's client would be interrupted as soon as it begins to close. */
    @Test
    void S16_anInterruptedThreadClosesTheBackendUninterrupted() {
        List<Boolean> interrupted = new ArrayList<>();
        close = () -> interrupted.add(Thread.currentThread().isInterrupted());
        CoreClient client = open();
        Thread.currentThread().interrupt();
        client.close();
        assertThat(Thread.interrupted()).as("the flag of the caller").isTrue();
        assertThat(interrupted).containsExactly(false);
    }

    /** A holder may interrupt its worker when the lease is lost, and the worker may be the one that closes the client. */
    @Test
    void S16_aCloseThatInterruptsItselfWaitsForTheReleases() {
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        List<Boolean> removedBefore = new ArrayList<>();
        AtomicBoolean closing = new AtomicBoolean();
        close = () -> {
            removedBefore.add(removed.isDone());
            closing.set(true);
        };
        Thread closer = Thread.currentThread();
        Thread store = new Thread(() -> {
            while (!closing.get() && closer.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            removed.complete(true);
        });
        end = () -> {
            store.start();
            return removed;
        };
        CoreClient client = open();
        client.named("x").acquireAsync().join().lost().thenRun(closer::interrupt);
        client.close();
        assertThat(Thread.interrupted()).as("the flag of the caller").isTrue();
        assertThat(removedBefore).containsExactly(true);
    }

    @Test
    void S16_aBackendThatFailsToCloseLeavesNoTimer() {
        CoreClient client = open();
        close = () -> {
            throw new NoClassDefFoundError("odd");
        };
        assertThat(client.named("x").acquireAsync().join().isHeld()).isTrue();
        client.close();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S07_aQueuedExpiryWarningIsDroppedByARelease() {
        Deque<Runnable> busyExecutor = new ArrayDeque<>();
        CoreClient client = open(ClientOptions.defaults().callbackExecutor(busyExecutor::add));
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        busyExecutor.remove().run();
        List<String> notified = new ArrayList<>();
        future.join().onExpiring(LEASE.multipliedBy(2), () -> notified.add("expiring"));
        future.join().releaseAsync();
        busyExecutor.forEach(Runnable::run);
        assertThat(notified).isEmpty();
    }

    @Test
    void S07_aBackendRenewsTheSelectedGrantsNow() {
        List<BackendContext> contexts = new ArrayList<>();
        ClientScopedClock scoped = new ClientScopedClock(clock);
        CoreClient client = CoreClient.open(
                context -> {
                    contexts.add(context);
                    return new Backend();
                },
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                scoped,
                new Random(1),
                scoped::stop);
        BackendContext context = contexts.get(0);
        List<List<GrantValidity>> renewals = new ArrayList<>();
        renew = renewals::add;
        client.named("x").acquireAsync().join();
        context.renewNow(Grant.class, grant -> false);
        context.renewNow(OtherGrant.class, grant -> true);
        clock.advance(Duration.ZERO);
        assertThat(renewals).isEmpty();
        context.renewNow(Grant.class, grant -> true);
        clock.advance(Duration.ZERO);
        assertThat(renewals).singleElement().satisfies(due -> assertThat(due).hasSize(1));

        CompletionStage<String> pending = context.withRequestTimeout("query", new CompletableFuture<>());
        context.register(new OtherGrant());
        close = () -> {
            renewals.clear();
            clock.advance(LEASE);
            assertThat(renewals).as("no renewal while the backend closes").isEmpty();
            renewals.add(List.of());
        };
        client.close();
        assertThat(renewals).as("the check of close() passed").hasSize(1);
        assertThat(pending.toCompletableFuture()).isCompletedExceptionally();
        assertThat(context.withRequestTimeout("query", new CompletableFuture<>())
                        .toCompletableFuture())
                .as("S16: after the close")
                .isCompletedExceptionally();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S17_aClientThatFailsToOpenLeavesNothing() {
        List<Throwable> failures = List.of(new IllegalStateException("odd"), new NoClassDefFoundError("odd"));
        for (Throwable failure : failures) {
            int[] stops = new int[1];
            assertThatThrownBy(() -> CoreClient.open(
                            context -> {
                                context.register(new OtherGrant());
                                if (failure instanceof Error error) {
                                    throw error;
                                }
                                throw (RuntimeException) failure;
                            },
                            ClientOptions.defaults(),
                            clock,
                            new Random(1),
                            () -> stops[0]++))
                    .isInstanceOf(RuntimeException.class);
            assertThat(stops).containsExactly(1);
            assertThat(clock.timerCount()).isZero();
        }
    }

    @Test
    void S16_closeDoesNotWaitForAnAcquireThatWasGranted() throws Exception {
        CoreClient client = open();
        client.named("x").acquire().release();
        assertThat(client.acquires.size()).as("in progress").isZero();
        assertThat(client.beginClose()).isCompleted();
        client.close();
    }

    private final class OtherGrant extends GrantValidity {
        OtherGrant() {
            super(clock, LEASE.dividedBy(3), clock.now().plus(LEASE.multipliedBy(2)));
        }
    }

    private final class Grant extends GrantValidity {
        Grant() {
            super(clock, LEASE, clock.now().plus(LEASE.multipliedBy(100)));
        }
    }

    private final class Backend extends NoopBackend {
        Backend() {
            super("odd:1");
        }

        @Override
        public Contender enqueue(LockRequest request, ContenderListener listener) {
            listeners.add(listener);
            return new Contender() {
                @Override
                public CompletionStage<AttemptResult> attempt() {
                    attempts++;
                    return attempt.get();
                }

                @Override
                public CompletionStage<Boolean> end() {
                    ends++;
                    return end.get();
                }
            };
        }

        @Override
        public void renew(List<GrantValidity> due) {
            renew.accept(due);
        }

        @Override
        public void close() {
            close.run();
        }
    }
}
