// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a listener is notified of each acquire and each lease, with exactly one end each. */
class LockListenerTest {
    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);
    private static final Duration REQUEST = DIRECT.requestTimeout();

    private final ManualClock clock = new ManualClock();
    private final MemoryStore store = MemoryStore.create(clock);
    private final MemoryFaults faults = store.faults();
    private final RecordedEvents events = new RecordedEvents();
    private final LockClient client = MemoryLocks.connect(store, DIRECT.listener(events));
    private final LockClient other = MemoryLocks.connect(store, DIRECT);
    private final DistributedLock lock = client.named("x");

    @AfterEach
    void nothingFollowsTheEnd() {
        faults.heal();
        clock.advance(REQUEST.plusSeconds(2)); // for cleanups that wait for their next try
        events.take();
        client.close();
        other.close();
        clock.advance(Duration.ofHours(1));
        assertThat(events.take()).isEmpty();
    }

    @Test
    void aGrantAndARelease() throws Exception {
        Lease lease = lock.acquire();
        assertThat(events.take()).as("before the caller has the lease").containsExactly("start memory x", "granted 1");
        assertThat(events.starters).containsExactly(Thread.currentThread());
        clock.advance(Duration.ofSeconds(7));
        lease.release();
        lease.release();
        lease.close();
        assertThat(events.take()).containsExactly("released RELEASED after 7");
    }

    @Test
    void S07_aLeaseThatAListenerReleasesAtItsGrantHasAnEndToo() throws Exception {
        LockListener impatient = (backend, name) -> new LockListener.AcquireObserver() {
            @Override
            public LockListener.@Nullable LeaseObserver granted(Lease lease) {
                lease.releaseAsync();
                return null;
            }
        };
        try (LockClient observed =
                MemoryLocks.connect(store, DIRECT.listener(events).listener(impatient))) {
            observed.named("x").acquire();
            assertThat(events.take()).containsExactly("start memory x", "granted 1", "released RELEASED after 0");
        }
    }

    @Test
    void S12_anAcquireThatWaitsSaysSoOnce() throws Exception {
        Lease first = other.named("x").acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        assertThat(events.take()).containsExactly("start memory x", "waiting");
        clock.advance(Duration.ofSeconds(25)); // for retries without a hint, each of which is busy
        assertThat(events.take()).isEmpty();
        first.release();
        assertThat(events.take()).containsExactly("granted 2");
        waiting.join().release();
        assertThat(events.take()).containsExactly("released RELEASED after 0");
    }

    @Test
    void S09_aSingleAttemptIsBusyAndHasNotWaited() throws Exception {
        other.named("x").acquire();
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(events.take()).containsExactly("start memory x", "busy");
    }

    @Test
    void S09_aBoundedWaitEndsBusyAtItsLimit() throws Exception {
        other.named("x").acquire();
        CompletableFuture<Optional<Lease>> waiting = lock.tryAcquireAsync(Duration.ofSeconds(3));
        clock.advance(Duration.ofSeconds(3));
        assertThat(waiting.join()).isEmpty();
        assertThat(events.take()).containsExactly("start memory x", "waiting", "busy");
    }

    @Test
    void S10_aCancelledFutureIsAWithdrawal() throws Exception {
        Lease first = other.named("x").acquire();
        lock.acquireAsync().cancel(false);
        first.release();
        assertThat(events.take()).containsExactly("start memory x", "waiting", "withdrawn");
    }

    @Test
    void S08_aGrantForACancelledFutureIsReleased() throws Exception {
        List<Runnable> held = new ArrayList<>();
        try (LockClient late = MemoryLocks.connect(
                store, ClientOptions.defaults().callbackExecutor(held::add).listener(events))) {
            late.named("x").acquireAsync().cancel(false);
            assertThat(events.take()).containsExactly("start memory x", "granted 1", "released RELEASED after 0");
        }
    }

    @Test
    void S10_aWithdrawalByCancelComesBeforeTheStagesOfTheFuture() throws Exception {
        other.named("x").acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        List<String> atCompletion = new ArrayList<>();
        waiting.whenComplete((lease, failure) -> atCompletion.addAll(events.take()));
        waiting.cancel(false);
        assertThat(atCompletion).containsExactly("start memory x", "waiting", "withdrawn");
    }

    @Test
    void S10_anInterruptIsAWithdrawal() throws Exception {
        other.named("x").acquire();
        FutureTask<Lease> acquiring = new FutureTask<>(lock::acquire);
        Thread waiter = new Thread(acquiring);
        waiter.start();
        assertThat(events.waiting.await(50, TimeUnit.SECONDS)).isTrue();
        waiter.interrupt();
        assertThatThrownBy(() -> acquiring.get(50, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
        assertThat(events.take()).containsExactly("start memory x", "waiting", "withdrawn");
        assertThat(events.starters).containsExactly(waiter);
    }

    @Test
    void S15_anOutageIsAFailure() {
        faults.refuse();
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(BackendUnavailableException.class);
        assertThat(events.take()).containsExactly("start memory x", "failed BackendUnavailableException");
    }

    @Test
    void S16_closingTheClientFailsItsWaitersAndEndsItsLeases() throws Exception {
        client.named("held").acquire();
        other.named("x").acquire();
        lock.acquireAsync();
        client.close();
        assertThat(events.take())
                .containsExactly(
                        "start memory held",
                        "granted 1",
                        "start memory x",
                        "waiting",
                        "failed ClientClosedException",
                        "lost CLIENT_CLOSED after 0");
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
        assertThat(events.take()).containsExactly("start memory x", "failed ClientClosedException");
    }

    @Test
    void aRenewalReportsTheTimeThatWasLeft() throws Exception {
        Lease lease = client.named("x", LockOptions.defaults().leaseDuration(Duration.ofSeconds(30)))
                .acquire();
        events.take();
        clock.advance(Duration.ofSeconds(10));
        assertThat(events.take()).as("30 s less 1 % and 2 ms, after 10 s").containsExactly("renewed 19698 of 30000");
        faults.refuse(Duration.ofSeconds(20));
        clock.advance(Duration.ofSeconds(25));
        assertThat(events.take())
                .as("by a retry 10 to 11 s late")
                .singleElement(InstanceOfAssertFactories.STRING)
                .matches("renewed (8[7-9]|9[0-6]).. of 30000");
        lease.release();
    }

    @Test
    void S07_aLossIsReportedOnceWithItsReason() throws Exception {
        Lease lease = lock.acquire();
        clock.advance(Duration.ofSeconds(4));
        faults.remove("x");
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(events.take()).containsExactly("start memory x", "granted 1", "lost REMOVED after 4");
    }

    @Test
    void S07_aSilentStoreLosesTheLeaseAtItsDeadline() throws Exception {
        lock.acquire();
        events.take();
        faults.freeze();
        clock.advance(Duration.ofSeconds(40));
        assertThat(events.take()).containsExactly("lost EXPIRED after 29");
    }

    @Test
    void S07_theMaximumHoldIsALoss() throws Exception {
        client.named("x", LockOptions.defaults().maxHold(Duration.ofSeconds(5))).acquire();
        clock.advance(Duration.ofSeconds(5));
        assertThat(events.take()).containsExactly("start memory x", "granted 1", "lost MAX_HOLD after 5");
    }

    @Test
    void S05_aReleaseReportsALossThatItFinds() throws Exception {
        Lease lease = lock.acquire();
        faults.expireUnnoticed("x");
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(events.take()).containsExactly("start memory x", "granted 1", "lost REMOVED after 0");
    }

    @Test
    void S05_aReleaseWithoutAReplyIsUnknown() throws Exception {
        Lease lease = lock.acquire();
        events.take();
        faults.freeze();
        CompletableFuture<ReleaseOutcome> releasing = lease.releaseAsync();
        assertThat(events.take()).isEmpty();
        clock.advance(REQUEST);
        assertThat(releasing.join()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(events.take()).containsExactly("released UNKNOWN after 0");
    }

    @Test
    void runReportsTheSameEvents() throws Exception {
        assertThatThrownBy(() -> lock.run(lease -> faults.remove("x"))).isInstanceOf(LeaseLostException.class);
        lock.callAsync(lease -> CompletableFuture.completedFuture("done")).join();
        assertThat(events.take())
                .containsExactly(
                        "start memory x",
                        "granted 1",
                        "lost REMOVED after 0",
                        "start memory x",
                        "granted 2",
                        "released RELEASED after 0");
    }

    /** Throws from each of its methods. */
    private static final class ThrowingListener
            implements LockListener, LockListener.AcquireObserver, LockListener.LeaseObserver {
        private final boolean fromTheStart;

        ThrowingListener(boolean fromTheStart) {
            this.fromTheStart = fromTheStart;
        }

        @Override
        public AcquireObserver acquireStarted(String backend, String lockName) {
            if (fromTheStart) {
                throw new IllegalStateException("thrown by a test");
            }
            return this;
        }

        @Override
        public void waiting() {
            throw new AssertionError("thrown by a test");
        }

        @Override
        public @Nullable LeaseObserver granted(Lease lease) {
            sneak(new Exception("thrown by a test"));
            return null;
        }

        @SuppressWarnings("unchecked")
        private static <X extends Throwable> void sneak(Throwable e) throws X {
            throw (X) e;
        }
    }

    /** Throws from each method of the observer of a lease. */
    private static final class ThrowingLeaseObserver implements LockListener.LeaseObserver {
        @Override
        public void renewed(Duration slack, Duration leaseDuration) {
            throw new IllegalStateException("thrown by a test");
        }

        @Override
        public void lost(LossReason reason, Duration held) {
            throw new StackOverflowError("thrown by a test");
        }

        @Override
        public void released(ReleaseOutcome outcome, Duration held) {
            throw new UnprintableException();
        }
    }

    /** Cannot be logged, since its message cannot be read. */
    static final class UnprintableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no text");
        }
    }

    @Test
    void aListenerThatThrowsChangesNothing() throws Exception {
        LockListener.AcquireObserver leasesThrow = new LockListener.AcquireObserver() {
            @Override
            public LockListener.LeaseObserver granted(Lease lease) {
                return new ThrowingLeaseObserver();
            }
        };
        ClientOptions options = DIRECT.listener(new ThrowingListener(true))
                .listener(new ThrowingListener(false))
                .listener((backend, name) -> leasesThrow)
                .listener((backend, name) -> null)
                .listener(events);
        try (LockClient throwing = MemoryLocks.connect(store, options)) {
            Lease first = other.named("x").acquire();
            CompletableFuture<Lease> waiting = throwing.named("x").acquireAsync();
            first.release();
            Lease lease = waiting.join();
            clock.advance(Duration.ofSeconds(10));
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            throwing.named("x").acquire();
            faults.remove("x");
            assertThat(events.take())
                    .as("the other listener")
                    .containsExactly(
                            "start memory x",
                            "waiting",
                            "granted 2",
                            "renewed 19698 of 30000",
                            "released RELEASED after 10",
                            "start memory x",
                            "granted 3",
                            "lost REMOVED after 0");
        }
        assertThat(store.list("", 100, "")).isEmpty();
    }
}
