// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.core.runtime.ClientScopedClock;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Trampoline;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests interleavings of events; each test decides when an attempt completes. */
class AcquireOperationTest {
    private static final Duration LEASE = NoopBackend.LEASE;

    private final ManualClock clock = new ManualClock();
    private final List<Scripted> contenders = new ArrayList<>();
    private Runnable whenEnqueued = () -> {};
    private final CoreClient client = open();

    private static final class Grant extends GrantValidity {
        Grant(LockClock clock, Duration left) {
            super(clock, LEASE.dividedBy(3), clock.now().plus(left));
        }
    }

    private static final class Scripted implements Contender {
        final ContenderListener listener;
        final List<CompletableFuture<AttemptResult>> attempts = new ArrayList<>();
        int ends;

        Scripted(ContenderListener listener) {
            this.listener = listener;
        }

        CompletableFuture<AttemptResult> last() {
            return attempts.get(attempts.size() - 1);
        }

        @Override
        public CompletionStage<AttemptResult> attempt() {
            attempts.add(new CompletableFuture<>());
            return last();
        }

        @Override
        public CompletionStage<Boolean> end() {
            assertThat(attempts).as("calls never overlap").allMatch(CompletableFuture::isDone);
            ends++;
            return CompletableFuture.completedFuture(true);
        }
    }

    private CoreClient open() {
        return open(ClientOptions.defaults().callbackExecutor(Runnable::run));
    }

    private CoreClient open(ClientOptions options) {
        ClientScopedClock scoped = new ClientScopedClock(clock);
        return CoreClient.open(context -> new Backend(), options, scoped, new Random(1), scoped::stop);
    }

    private class Backend extends NoopBackend {
        Backend() {
            super("script:1");
        }

        @Override
        public Contender enqueue(LockRequest request, ContenderListener listener) {
            Scripted contender = new Scripted(listener);
            contenders.add(contender);
            whenEnqueued.run();
            return contender;
        }
    }

    private AttemptResult granted(Duration left) {
        return new AttemptResult.Granted(1, new Grant(clock, left));
    }

    @Test
    void S10_anOperationThatEndsDuringAnAttemptIsWithdrawnAfterIt() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        future.cancel(true);
        assertThat(contenders.get(0).ends).isZero();
        contenders.get(0).last().complete(granted(LEASE));
        assertThat(contenders.get(0).ends).isEqualTo(1);
        assertThat(client.holders.size() + client.keeper.size() + clock.timerCount())
                .isZero();
    }

    @Test
    void S08_aGrantThatHasEndedBeforeItsReplyIsReplacedByOneNewContender() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        contenders.get(0).last().complete(granted(Duration.ZERO));
        // The withdrawal completed at once and woke this same operation, which must still enqueue only one new
        // contender.
        assertThat(contenders).hasSize(2);
        assertThat(contenders.get(0).ends).isEqualTo(1);
        contenders.get(1).last().complete(granted(LEASE));
        assertThat(future.join().isHeld()).isTrue();
        assertThat(contenders).hasSize(2);
    }

    @Test
    void S07_aGrantThatIsLostBeforeItsReplyIsNeverDelivered() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        contenders.get(0).listener.lost(new LossReason(LossReason.Kind.REMOVED, "test"));
        contenders.get(0).last().complete(granted(LEASE));
        assertThat(future).isNotDone();
        assertThat(contenders).hasSize(2);
        assertThat(contenders.get(0).ends).isEqualTo(1);
        assertThat(client.holders.size() + client.keeper.size()).isZero();
    }

    @Test
    void S09_aSingleAttemptThatIsDisplacedIsRetriedOnce() {
        CompletableFuture<Optional<Lease>> future = client.named("x").tryAcquireAsync(Duration.ZERO);
        contenders.get(0).last().complete(new AttemptResult.Displaced("the session ended"));
        contenders.get(1).last().complete(new AttemptResult.Displaced("the session ended"));
        assertThatThrownBy(future::join)
                .hasCauseInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("the session ended");
        assertThat(contenders).hasSize(2);
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S05_aReleaseDoesNotAffectOtherGrantsOfTheSameSession() {
        Grant session = new Grant(clock, LEASE);
        List<Lease> leases = new ArrayList<>();
        for (String name : List.of("a", "b")) {
            CompletableFuture<Lease> future = client.named(name).acquireAsync();
            contenders.get(leases.size()).last().complete(new AttemptResult.Granted(leases.size(), session));
            leases.add(future.join());
        }
        leases.get(0).close();
        leases.get(0).close();
        assertThat(client.keeper.size()).isEqualTo(1);
        CompletableFuture<LossReason> lost = leases.get(1).lost();
        session.lost(new LossReason(LossReason.Kind.SESSION_ENDED, "test"));
        assertThat(lost).isDone();
        assertThat(leases.get(0).lost()).isNotDone();
    }

    @Test
    void S04_aProcessThatWaitsForItselfForOneLeaseDurationIsWarnedOnce() {
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        contenders.get(0).last().complete(granted(LEASE.multipliedBy(10)));
        HeldLease held = (HeldLease) first.join();
        CompletableFuture<Lease> second = client.named("x").acquireAsync();
        contenders.get(1).last().complete(new AttemptResult.Waiting(LEASE.multipliedBy(5)));
        clock.advance(LEASE.minusMillis(1));
        assertThat(held.selfWaitWarned()).isFalse();
        clock.advance(Duration.ofMillis(1));
        assertThat(held.selfWaitWarned()).isTrue();
        assertThat(held.warnOnce()).as("a second warning").isFalse();
        assertThat(second).isNotDone();
    }

    /** The client knows the lease a moment before the operation has its outcome. */
    @Test
    void S04_anOperationIsNotWarnedOfItsOwnLease() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        contenders.get(0).last().complete(new AttemptResult.Waiting(LEASE.multipliedBy(5)));
        contenders.get(0).listener.wake();
        AtomicBoolean elapses = new AtomicBoolean();
        LockClock elapsing = new LockClock() {
            @Override
            public MonotonicInstant now() {
                if (elapses.getAndSet(false)) {
                    clock.advance(LEASE);
                }
                return clock.now();
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                return clock.schedule(delay, task);
            }
        };
        Grant grant = new Grant(elapsing, LEASE.multipliedBy(10));
        elapses.set(true);
        contenders.get(0).last().complete(new AttemptResult.Granted(1, grant));
        assertThat(elapses).isFalse();
        assertThat(((HeldLease) future.join()).selfWaitWarned()).isFalse();
    }

    /** So no attempt that follows can bring a grant before the notice. */
    @Test
    void anObserverHearsOfAWaitBeforeTheNextAttempt() {
        List<Integer> attempts = new ArrayList<>();
        LockListener waking = (backend, lockName) -> new LockListener.AcquireObserver() {
            @Override
            public void waiting() {
                contenders.get(0).listener.wake();
                attempts.add(contenders.get(0).attempts.size());
            }
        };
        open(ClientOptions.defaults().callbackExecutor(Runnable::run).listener(waking))
                .named("x")
                .acquireAsync();
        contenders.get(0).last().complete(new AttemptResult.Waiting(LEASE));
        assertThat(attempts).containsExactly(1);
        assertThat(contenders.get(0).attempts).as("after the notice").hasSize(2);
    }

    /** Each "busy" reply comes after a part of the lease duration, so it must not start the time of the warning again. */
    @Test
    void S04_repliesDoNotDelayTheWarningOfAProcessThatWaitsForItself() {
        Duration step = LEASE.dividedBy(4);
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        contenders.get(0).last().complete(granted(LEASE.multipliedBy(10)));
        HeldLease held = (HeldLease) first.join();
        client.named("x").acquireAsync();
        for (int reply = 0; reply < 4; reply++) {
            contenders.get(1).last().complete(new AttemptResult.Waiting(step));
            clock.advance(step);
        }
        assertThat(held.selfWaitWarned()).isTrue();
    }

    @Test
    void S16_closeWaitsForAPendingAttemptAndSendsNoNewOne() {
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        CompletableFuture<Lease> second = client.named("x").acquireAsync();
        CompletableFuture<Void> closed = client.beginClose();
        assertThatThrownBy(first::join).hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(second::join).hasCauseInstanceOf(ClientClosedException.class);
        assertThat(contenders).as("the second made no attempt").hasSize(1);
        assertThat(closed).isNotDone();
        contenders.get(0).last().complete(granted(LEASE));
        assertThat(contenders.get(0).ends).isEqualTo(1);
        assertThat(closed).isDone();
        client.finishClose();
        client.close();
        assertThat(clock.timerCount()).isZero();
        assertThat(client.queues.size()).isZero();
    }

    /** The close has begun, but has not come to the second operation yet. */
    @Test
    void S16_aBusyReplyDuringTheCloseIsNoOutcome() {
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        CompletableFuture<Optional<Lease>> second = client.named("y").tryAcquireAsync(Duration.ZERO);
        first.whenComplete((lease, failure) -> contenders.get(1).last().complete(new AttemptResult.Waiting(LEASE)));
        client.beginClose();
        assertThatThrownBy(second::join).hasCauseInstanceOf(ClientClosedException.class);
        assertThat(contenders.get(1).ends).isEqualTo(1);
    }

    @Test
    void S10_anAttemptThatWasDecidedBeforeTheEndIsNotSentAfterIt() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        Trampoline.run(
                () -> { // the next attempt follows when this task has ended
                    contenders.get(0).last().complete(new AttemptResult.Displaced("test"));
                    future.cancel(true);
                });
        assertThat(contenders).hasSize(1);
        assertThat(client.acquires.size()).isZero();
    }

    @Test
    void S15_aQueuedOperationIsBusyOnlyIfTheLatestResultInItsQueueWas() {
        Duration wait = Duration.ofMillis(100);
        var first = client.named("x").tryAcquireAsync(wait);
        var second = client.named("x").tryAcquireAsync(wait);
        clock.advance(wait);
        assertThatThrownBy(first::join).as("no response").hasCauseInstanceOf(BackendUnavailableException.class);
        assertThatThrownBy(second::join)
                .as("behind an operation without response")
                .hasCauseInstanceOf(BackendUnavailableException.class);
        contenders.forEach(contender -> contender.last().complete(new AttemptResult.Waiting(LEASE)));
        contenders.clear();

        var third = client.named("x").tryAcquireAsync(wait);
        var fourth = client.named("x").tryAcquireAsync(wait);
        contenders.get(0).last().complete(new AttemptResult.Waiting(LEASE));
        clock.advance(wait);
        assertThat(third.join()).as("busy").isEmpty();
        assertThat(fourth.join()).as("behind a busy operation").isEmpty();

        contenders.clear();
        var fifth = client.named("x").acquireAsync();
        var sixth = client.named("x").tryAcquireAsync(wait);
        contenders.get(0).last().complete(granted(LEASE));
        assertThat(fifth).isDone();
        clock.advance(wait);
        assertThat(sixth.join())
                .as("behind an operation that was granted the lock")
                .isEmpty();
    }

    @Test
    void S15_anUnboundedWaitFailsAfterAnOutageAndNamesTheEndpoints() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        while (!future.isDone()) {
            assertThat(clock.now().nanos()).isLessThanOrEqualTo(LEASE.toNanos());
            if (!contenders.get(0).last().isDone()) {
                contenders.get(0).last().completeExceptionally(new BackendUnavailableException("no route"));
            }
            clock.advance(Duration.ofMillis(100));
        }
        assertThatThrownBy(future::join).hasMessageContaining("script:1").hasMessageContaining("no route");
        assertThat(contenders.get(0).ends).isEqualTo(1);
    }

    /** The message about the outage names the endpoints, which only the backend knows. */
    @Test
    void S09_S15_aBackendThatCannotNameItsEndpointsKeepsNoCallerWaiting() {
        ClientScopedClock scoped = new ClientScopedClock(clock);
        CoreClient nameless = CoreClient.open(
                context -> new Backend() {
                    @Override
                    public String endpoints() {
                        throw new IllegalStateException("the pool is closed");
                    }
                },
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                scoped,
                new Random(1),
                scoped::stop);
        CompletableFuture<Optional<Lease>> future = nameless.named("x").tryAcquireAsync(Duration.ofMillis(100));
        clock.advance(Duration.ofMillis(100));
        assertThatThrownBy(future::join)
                .hasCauseInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("(unknown (java.lang.IllegalStateException: the pool is closed))");
    }

    @Test
    void S07_aLossOfOneGrantEndsItsLease() {
        CompletableFuture<Lease> future = client.named("x").acquireAsync();
        contenders.get(0).last().complete(granted(LEASE));
        CompletableFuture<LossReason> lost = future.join().lost();
        LossReason removed = new LossReason(LossReason.Kind.REMOVED, "test");
        contenders.get(0).listener.lost(removed);
        assertThat(future.join().isHeld()).isFalse();
        assertThat(lost).isCompletedWithValue(removed);
        assertThat(contenders.get(0).ends).isEqualTo(1);
    }

    @Test
    void S10_aGrantThatCoincidesWithAnInterruptIsReturnedAndKeepsTheFlag() throws Exception {
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        LockListener interrupting = (backend, lockName) -> new LockListener.AcquireObserver() {
            @Override
            public LockListener.@Nullable LeaseObserver granted(Lease lease) {
                // The operation has its outcome, which the waiting thread does not have yet.
                waiter.join().interrupt();
                long begun = System.nanoTime();
                while (waiter.join().isInterrupted() && System.nanoTime() - begun < 20_000_000_000L) {
                    Thread.onSpinWait();
                }
                return null;
            }
        };
        CoreClient observed =
                open(ClientOptions.defaults().callbackExecutor(Runnable::run).listener(interrupting));
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        CountDownLatch started = new CountDownLatch(1);
        whenEnqueued = started::countDown;
        Thread thread = new Thread(() -> {
            try {
                Lease lease = observed.named("x").acquire();
                flag.complete(Thread.interrupted() && lease.isHeld());
            } catch (Throwable e) {
                flag.completeExceptionally(e);
            }
        });
        waiter.complete(thread);
        thread.start();
        assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
        while (thread.getState() != Thread.State.WAITING) { // for the outcome, without a limit
            assertThat(flag).isNotDone();
            TimeUnit.MILLISECONDS.sleep(1);
        }
        contenders.get(0).last().complete(granted(LEASE));
        assertThat(flag.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void S16_anAcquireAfterTheCloseReachesNoBackend() {
        client.close();
        assertThatThrownBy(() -> client.named("x").acquireAsync().join())
                .hasCauseInstanceOf(ClientClosedException.class);
        assertThat(contenders).isEmpty();
    }

    @Test
    void S17_aQueueExistsWhileAnOperationWaits() {
        client.named("x").acquireAsync();
        assertThat(client.queues.size()).isEqualTo(1);
        contenders.get(0).last().complete(granted(LEASE));
        assertThat(client.queues.size()).isZero();
        assertThat(client.holders.size()).isEqualTo(1);
        assertThat(client.named("x")).hasToString("DistributedLock[x]");
    }
}
