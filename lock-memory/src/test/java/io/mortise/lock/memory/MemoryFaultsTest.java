// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the effect of each injected fault on a manual clock, and that nothing of it remains after it has ended. */
class MemoryFaultsTest {
    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);
    private static final Duration REQUEST = DIRECT.requestTimeout();

    private final ManualClock clock = new ManualClock();
    private final MemoryStore store = MemoryStore.create(clock);
    private final MemoryFaults faults = store.faults();
    private final LockClient a = MemoryLocks.connect(store, DIRECT);
    private final LockClient b = MemoryLocks.connect(store, DIRECT);

    @AfterEach
    void nothingRemains() {
        faults.heal();
        clock.advance(Duration.ofSeconds(2)); // for cleanups that wait for their next try
        a.close();
        b.close();
        clock.advance(REQUEST); // for the deadlines of requests without a response
        assertThat(store.list("", 100, "")).as("locks that remain in the store").isEmpty();
        assertThat(clock.timerCount()).as("timers of closed clients").isZero();
    }

    @Test
    void refusedRequestsFailImmediatelyAndNameTheStore() throws Exception {
        faults.refuse(Duration.ofSeconds(3));
        assertThatThrownBy(() -> a.named("x").tryAcquire())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("memory (private)");
        assertThatThrownBy(() -> MemoryLocks.connect(store, DIRECT)).isInstanceOf(BackendUnavailableException.class);
        clock.advance(Duration.ofSeconds(3));
        assertThat(a.named("x").tryAcquire().orElseThrow().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void refusalInsideABoundedWaitIsRetried() {
        faults.refuse(Duration.ofSeconds(3));
        CompletableFuture<Optional<Lease>> waiting = a.named("x").tryAcquireAsync(Duration.ofSeconds(10));
        clock.advance(Duration.ofSeconds(5));
        assertThat(waiting).isCompleted();
        waiting.join().orElseThrow().close();
    }

    @Test
    void aRetryAfterALostReplyReturnsTheSameGrant() {
        faults.dropNextReply();
        CompletableFuture<Lease> acquiring = a.named("x").acquireAsync();
        assertThat(acquiring).isNotDone();
        assertThat(store.status("x").holders()).as("it was executed").hasSize(1);
        clock.advance(REQUEST.plusSeconds(1));
        Lease lease = acquiring.join();
        assertThat(lease.fencingToken()).as("no second grant was created").isEqualTo(1);
        assertThat(lease.remaining())
                .as("counted from the first request")
                .isLessThan(Duration.ofSeconds(30).minus(REQUEST));
        lease.close();
    }

    @Test
    void aGrantWhoseReplyWasLostIsWithdrawnAfterTheCallerGaveUp() {
        faults.dropNextReply();
        CompletableFuture<Optional<Lease>> acquiring = a.named("x").tryAcquireAsync(Duration.ZERO);
        clock.advance(REQUEST.plusSeconds(1));
        assertThat(acquiring).isCompletedExceptionally();
        assertThat(store.status("x").holders()).as("S8").isEmpty();
    }

    @Test
    void aReleaseWhoseReplyWasLostCompletesByARetry() throws Exception {
        Lease lease = a.named("x").acquire();
        faults.dropNextReply();
        CompletableFuture<ReleaseOutcome> release = lease.releaseAsync();
        assertThat(lease.isHeld()).isFalse();
        assertThat(release).isNotDone();
        clock.advance(REQUEST.plusSeconds(1));
        assertThat(release).isCompleted();
        assertThat(release.join()).isIn(ReleaseOutcome.UNKNOWN, ReleaseOutcome.RELEASED);
    }

    @Test
    void aLostReleaseRequestIsRetried() throws Exception {
        Lease lease = a.named("x").acquire();
        faults.dropNextRequest();
        lease.releaseAsync();
        assertThat(store.status("x").holders()).hasSize(1);
        clock.advance(REQUEST.plusSeconds(1));
        assertThat(store.status("x").holders()).isEmpty();
    }

    @Test
    void afterADelayedReplyTheDeadlineCountsFromTheRequest() {
        faults.delayReplies(Duration.ofSeconds(2));
        CompletableFuture<Lease> acquiring = a.named("x").acquireAsync();
        clock.advance(Duration.ofMillis(1999));
        assertThat(acquiring).isNotDone();
        clock.advance(Duration.ofMillis(1));
        assertThat(acquiring).isCompleted();
        assertThat(acquiring.join().remaining()).isLessThan(Duration.ofSeconds(28));
        faults.heal();
        acquiring.join().close();
    }

    @Test
    void aWaiterWhoseHintWasLostIsGrantedAfterTheFallbackTime() throws Exception {
        Lease held = a.named("x").acquire();
        CompletableFuture<Lease> waiting = b.named("x").acquireAsync();
        faults.loseHints();
        held.close();
        assertThat(waiting).isNotDone();
        clock.advance(Duration.ofSeconds(6));
        assertThat(waiting).isCompleted();
        waiting.join().close();
    }

    @Test
    void aRequestThatArrivesAfterAFreezeLeavesNoOrphan() {
        faults.freeze();
        CompletableFuture<Optional<Lease>> acquiring = a.named("x").tryAcquireAsync(Duration.ofSeconds(1));
        clock.advance(Duration.ofSeconds(1));
        assertThat(acquiring).as("S9, S15").isCompletedExceptionally();
        faults.thaw();
        clock.advance(Duration.ofSeconds(1));
        assertThat(store.status("x").holders())
                .as("S8: the late acquire was withdrawn")
                .isEmpty();
    }

    @Test
    void anUnboundedWaitOnASilentStoreFailsAfterOneLeaseDuration() {
        faults.freeze();
        CompletableFuture<Lease> acquiring = a.named("x").acquireAsync();
        clock.advance(Duration.ofSeconds(29));
        assertThat(acquiring).isNotDone();
        clock.advance(Duration.ofSeconds(7));
        assertThat(acquiring).as("S15").isCompletedExceptionally();
    }

    @Test
    void expiryAndRemovalAreReportedImmediately() throws Exception {
        Lease expired = a.named("x").acquire();
        assertThat(faults.expire("x")).isTrue();
        assertThat(reasonOf(expired)).isEqualTo(LossReason.Kind.EXPIRED);
        Lease removed = a.named("x").acquire();
        assertThat(faults.remove("x")).isTrue();
        assertThat(reasonOf(removed)).isEqualTo(LossReason.Kind.REMOVED);
        assertThat(faults.remove("x")).as("no client holds it").isFalse();
        assertThat(removed.release()).isEqualTo(ReleaseOutcome.LOST);
    }

    @Test
    void allLeasesOfOneClientExpireAndThoseOfOthersStay() throws Exception {
        MemoryFaults victimFaults = store.newClientFaults();
        LockClient victim = MemoryLocks.connect(store, DIRECT, victimFaults);
        Lease one = victim.named("one").acquire();
        Lease two = victim.named("two").acquire();
        Lease others = b.named("three").acquire();
        CompletableFuture<Lease> next = victim.named("one").acquireAsync();
        assertThat(victimFaults.expireAll()).isEqualTo(2);
        assertThat(reasonOf(one)).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(reasonOf(two)).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(next.join().isHeld()).as("the waiter had no lease yet").isTrue();
        assertThat(others.isHeld()).isTrue();
        assertThat(store.faults().expireAll()).as("of all clients").isEqualTo(2);
        assertThat(reasonOf(others)).isEqualTo(LossReason.Kind.EXPIRED);
        victim.close();
    }

    @Test
    void requestsAreCountedAndRenewalsAreNot() throws Exception {
        Lease lease = a.named("x").acquire();
        clock.advance(Duration.ofSeconds(60));
        assertThat(lease.isHeld()).isTrue();
        assertThat(b.named("x").tryAcquire()).isEmpty();
        lease.close();
        // Two acquires and two releases, one of which withdraws the attempt that was not granted.
        assertThat(store.requestCount()).isEqualTo(4);
    }

    @Test
    void anUnnoticedExpiryCreatesAStaleHolderWithALowerToken() throws Exception {
        Lease stale = a.named("x").acquire();
        assertThat(faults.expireUnnoticed("x")).isTrue();
        Lease current = b.named("x").acquire();
        assertThat(stale.isHeld()).as("considered valid until the next renewal").isTrue();
        assertThat(current.fencingToken()).isGreaterThan(stale.fencingToken());
        clock.advance(Duration.ofSeconds(10));
        assertThat(stale.isHeld()).isFalse();
        assertThat(current.isHeld()).isTrue();
        assertThat(stale.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(current.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void closeOnASilentConnectionIsBoundedAndTheLeaseExpires() throws Exception {
        MemoryFaults connectionFaults = store.newClientFaults();
        LockClient silent = MemoryLocks.connect(store, DIRECT, connectionFaults);
        Lease held = silent.named("x").acquire();
        CompletableFuture<Lease> waiting = b.named("x").acquireAsync();
        connectionFaults.freeze();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(silent::close);
        while (!closing.isDone()) {
            clock.advance(
                    Duration.ofMillis(100)); // close() runs on another thread and sets its time limit on this clock
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(reasonOf(held)).isNotNull();
        clock.advance(Duration.ofSeconds(40));
        assertThat(waiting).as("crash release").isCompleted();
        waiting.join().close();
        connectionFaults.heal();
    }

    @Test
    void closeWithdrawsARequestInProgress() {
        LockClient closing = MemoryLocks.connect(store, DIRECT);
        faults.delayReplies(Duration.ofSeconds(2)); // less than the time limit of close()
        CompletableFuture<Lease> acquiring = closing.named("x").acquireAsync();
        assertThat(store.status("x").holders()).as("executed, but no reply yet").hasSize(1);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(closing::close);
        while (!closed.isDone()) {
            clock.advance(Duration.ofMillis(100));
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(acquiring).isCompletedExceptionally();
        assertThat(store.status("x").holders()).as("S16").isEmpty();
    }

    @Test
    void closeRemovesAWaiterFromTheQueueOfTheStore() throws Exception {
        Lease held = b.named("x").acquire();
        CompletableFuture<Lease> waiting = a.named("x").acquireAsync();
        a.close();
        assertThat(waiting).isCompletedExceptionally();
        assertThat(store.status("x").waiters()).isEmpty();
        held.close();
    }

    private static LossReason.Kind reasonOf(Lease lease) {
        return lease.lost().join().kind();
    }
}
