// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.support.Backoff;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the core with a backend of the simple SPI, on a manual clock. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SimpleSpiTest {
    private final ManualClock clock = new ManualClock();
    private final MapStore store = new MapStore(clock);
    private final LockClient one = client();
    private final LockClient two = client();

    private LockClient client() {
        return BackendClients.open(
                context -> new LeaseStoreBackend(store, context),
                ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).callbackExecutor(Runnable::run),
                clock);
    }

    @Test
    void S01_S03_oneHolderAtATimeAndTokensIncrease() {
        Lease first = one.named("x").acquireAsync().join();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        clock.advance(Duration.ofMinutes(2));
        assertThat(first.isHeld()).as("renewed").isTrue();
        assertThat(waiting).isNotDone();
        assertThat(first.releaseAsync().join()).isEqualTo(ReleaseOutcome.RELEASED);
        clock.advance(Duration.ofMillis(200));
        assertThat(waiting.join().fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(first.releaseAsync().join()).as("idempotent").isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiting.join().isHeld()).isTrue();
    }

    @Test
    void S07_aSilentHolderIsNotifiedBeforeTheLockIsGrantedAgain() {
        Lease first = one.named("x").acquireAsync().join();
        CompletableFuture<LossReason> lost = first.lost();
        store.hung = true;
        clock.advance(Duration.ofSeconds(30));
        assertThat(lost.join().kind()).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(first.remaining()).isZero();
        store.hung = false;
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isPresent();
    }

    @Test
    void S07_cancellingALostFutureAffectsNoOther() {
        Lease lease = one.named("x").acquireAsync().join();
        CompletableFuture<LossReason> lost = lease.lost();
        lease.lost().cancel(true);
        assertThat(lost).isNotDone();
        clock.advance(Duration.ofSeconds(10));
        store.hung = true;
        clock.advance(Duration.ofSeconds(30));
        assertThat(lost.join().kind()).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(lease.lost()).isCompleted();
    }

    @Test
    void S02_isHeldIsFalseAtTheFirstCallAfterAPause() {
        Lease lease = one.named("x").acquireAsync().join();
        clock.advanceWithoutTimers(Duration.ofSeconds(31));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.releaseAsync().join()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(lease.lost()).isDone();
    }

    @Test
    void S08_aRequestThatExecutesAfterTheWithdrawalIsCleanedUp() {
        store.executionDelay = Duration.ofSeconds(2);
        CompletableFuture<Optional<Lease>> attempt = one.named("x").tryAcquireAsync(Duration.ZERO);
        assertThat(attempt).isCompletedExceptionally();
        store.executionDelay = Duration.ZERO;
        clock.advance(Duration.ofMillis(2_001));
        assertThat(store.rows).as("the late request has executed").hasSize(1);
        clock.advance(Duration.ofSeconds(3));
        assertThat(store.rows).isEmpty();
    }

    /** A reply is lost, then another holder keeps the lock for long: the later grant counts from its own request. */
    @Test
    void S02_S08_aReplyLostEarlyInALongWaitDoesNotShortenTheLaterGrant() {
        Lease held = two.named("x").acquireAsync().join();
        store.executionDelay = Duration.ofDays(1);
        CompletableFuture<Lease> waiting = one.named("x").acquireAsync();
        store.executionDelay = Duration.ZERO;
        clock.advance(Duration.ofSeconds(25));
        held.releaseAsync().join();
        clock.advance(Duration.ofMillis(200));
        assertThat(waiting.join().remaining()).isGreaterThan(Duration.ofSeconds(29));
        assertThat(waiting.join().fencingToken()).isEqualTo(held.fencingToken() + 1);
        clock.advance(Duration.ofMinutes(2));
        assertThat(waiting.join().isHeld()).isTrue();
        assertThat(waiting.join().releaseAsync().join()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** A lost request executes after a busy reply, when the lock is free: its orphan is removed while the waiter waits. */
    @Test
    void S08_aRequestThatExecutesAfterABusyReplyIsCleanedUp() {
        Lease held = two.named("x").acquireAsync().join();
        store.executionDelay = Duration.ofSeconds(10);
        CompletableFuture<Lease> waiting = one.named("x").acquireAsync();
        store.executionDelay = Duration.ZERO;
        clock.advance(Duration.ofMillis(9_900));
        store.hung = true; // no other request executes between the release and the late request
        clock.advance(Duration.ofMillis(99));
        store.rows.clear();
        clock.advance(Duration.ofMillis(1));
        store.hung = false;
        assertThat(store.rows).as("the late request has executed").hasSize(1);
        assertThat(waiting).isNotDone();
        clock.advance(Duration.ofSeconds(9));
        assertThat(waiting.join().remaining()).isGreaterThan(Duration.ofSeconds(15));
        assertThat(waiting.join().releaseAsync().join()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(store.rows).isEmpty();
        assertThat(held.isHeld()).isFalse();
    }

    /** A request executed, but its reply was lost and the store was silent for most of the lease: the grant is released. */
    @Test
    void S02_aGrantWhoseReplyWasLostLongAgoIsRequestedAgainBeforeDelivery() {
        store.executionDelay = Duration.ofNanos(1);
        CompletableFuture<Lease> waiting = one.named("x").acquireAsync();
        clock.advance(Duration.ofNanos(1));
        store.executionDelay = Duration.ZERO;
        store.hung = true;
        clock.advance(Duration.ofSeconds(25));
        assertThat(store.rows).hasSize(1);
        assertThat(waiting).isNotDone();
        store.hung = false;
        clock.advance(Duration.ofSeconds(3));
        assertThat(waiting.join().remaining()).isGreaterThan(Duration.ofSeconds(25));
        clock.advance(Duration.ofMinutes(1));
        assertThat(waiting.join().isHeld()).isTrue();
    }

    @Test
    void S16_closeTracksARequestThatMayStillExecute() {
        store.executionDelay = Duration.ofSeconds(2);
        assertThat(one.named("x").tryAcquireAsync(Duration.ZERO)).isCompletedExceptionally();
        store.executionDelay = Duration.ZERO;
        CoreClient client = (CoreClient) one;
        assertThat(client.cleanups.isEmpty()).isFalse();
        clock.advance(Duration.ofSeconds(30));
        assertThat(client.cleanups.isEmpty()).as("for one lease duration").isTrue();
        client.close();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S19_aNameInTheDescriptionOfACleanupCannotForgeLogText() {
        store.executionDelay = Duration.ofSeconds(2);
        assertThat(one.named("a\"\nevent=forged").tryAcquireAsync(Duration.ZERO))
                .isCompletedExceptionally();
        assertThat(((CoreClient) one).cleanups.stop())
                .isNotEmpty()
                .allSatisfy(what -> assertThat(what)
                        .contains("lock \"a\\\"\\nevent=forged\"")
                        .doesNotContain("\n"));
    }

    @Test
    void S07_aRenewalThatReturnsNullIsUnknown() {
        Lease lease = one.named("x").acquireAsync().join();
        store.returnsNull = true;
        long before = store.requests.get();
        clock.advance(Duration.ofSeconds(15));
        assertThat(lease.isHeld()).isTrue();
        assertThat(store.requests.get() - before).as("retried soon").isGreaterThan(3);
        store.returnsNull = false;
        clock.advance(Duration.ofMinutes(1));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void S14_anAcquireThatReturnsNullFailsAndNamesTheStore() {
        store.returnsNull = true;
        assertThatThrownBy(() -> one.named("x").acquireAsync().join())
                .hasCauseInstanceOf(BackendRefusedException.class)
                .hasMessageContaining(MapStore.class.getName() + " returned null for acquire of x");
        store.returnsNull = false;
    }

    @Test
    void S05_aReleaseThatReturnsNullIsRetriedByACleanup() {
        Lease lease = one.named("x").acquireAsync().join();
        store.returnsNull = true;
        CompletableFuture<ReleaseOutcome> released = lease.releaseAsync();
        store.returnsNull = false;
        clock.advance(Duration.ofSeconds(2));
        assertThat(released).isCompleted();
        assertThat(store.rows).isEmpty();
    }

    /** A store may try to change the collection that it receives. */
    @Test
    void S07_theStoreCannotChangeTheCollectionOfGrantsToRenew() {
        store.clearsArguments = true;
        Lease lease = one.named("x").acquireAsync().join();
        clock.advance(Duration.ofMinutes(1));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void S07_maxHoldAndOnExpiring() {
        List<String> events = new ArrayList<>();
        Lease lease = one.named("x", LockOptions.defaults().maxHold(Duration.ofSeconds(40)))
                .acquireAsync()
                .join();
        lease.onExpiring(
                Duration.ofSeconds(5),
                () -> events.add("expiring at " + clock.now().nanos() / 1_000_000_000));
        lease.lost()
                .thenAccept(reason ->
                        events.add(reason.kind() + " at " + clock.now().nanos() / 1_000_000_000));
        clock.advance(Duration.ofMinutes(1));
        assertThat(events).containsExactly("expiring at 35", "MAX_HOLD at 40");
        assertThat(store.rows).isEmpty();
    }

    @Test
    void S12_waitersOfOneProcessAreFirstInFirstOut() {
        Lease held = one.named("x").acquireAsync().join();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int each = i;
            one.named("x").acquireAsync().thenAccept(lease -> {
                order.add(each);
                lease.releaseAsync();
            });
        }
        long before = store.requests.get();
        held.releaseAsync();
        clock.advance(Duration.ofSeconds(1));
        assertThat(order).containsExactly(0, 1, 2, 3, 4);
        assertThat(store.requests.get() - before).as("one contender at a time").isLessThan(30);
    }

    @Test
    void S15_thousandsOfWaitersFailTogetherInAnOutage() {
        store.hung = true;
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            waiting.add(one.named("x").acquireAsync());
        }
        clock.advance(Duration.ofSeconds(32));
        assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(((CoreClient) one).queues.size()).isZero();
    }

    /** The renewals of another lock have replies, so that the client as a whole has no outage. */
    @Test
    void S15_waitersOfOneSilentLockFailTogether() {
        Lease other = one.named("y").acquireAsync().join();
        store.hungName = "x";
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(one.named("x").acquireAsync());
        }
        clock.advance(Duration.ofSeconds(20));
        CompletableFuture<Lease> late = one.named("x").acquireAsync();
        clock.advance(Duration.ofSeconds(12));
        assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(late).isNotDone();
        clock.advance(Duration.ofSeconds(20));
        assertThat(late).isCompletedExceptionally();
        assertThat(other.isHeld()).isTrue();
    }

    @Test
    void S15_twoShortOutagesOfOneLockAreNoLongOne() {
        Lease held = two.named("x").acquireAsync().join();
        CompletableFuture<Lease> first = one.named("x").acquireAsync();
        CompletableFuture<Lease> second = one.named("x").acquireAsync();
        for (int i = 0; i < 2; i++) {
            store.hungName = "x";
            clock.advance(Duration.ofSeconds(20));
            store.hungName = "";
            clock.advance(Duration.ofSeconds(5));
        }
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        assertThat(held.isHeld()).isTrue();
    }

    /** Only the first of them sends requests, and it waits for ten minutes. */
    @Test
    void S15_anUnboundedWaitBehindABoundedOneFailsAfterAnOutage() {
        store.hung = true;
        CompletableFuture<?> bounded = one.named("x").tryAcquireAsync(Duration.ofMinutes(10));
        CompletableFuture<?> unbounded = one.named("x").acquireAsync();
        clock.advance(Duration.ofSeconds(37));
        assertThat(unbounded).isCompletedExceptionally();
        assertThat(bounded).isNotDone();
    }

    @Test
    void aClientNamesItsStoreAndItself() {
        assertThat(one).asString().matches("LockClient\\[.+, client \\w+\\]").isNotEqualTo(two.toString());
        one.close();
        assertThat(one).asString().endsWith(", closed]");
    }

    @Test
    void S17_closeLeavesNoGrantAndNoTimer() {
        Lease held = one.named("x").acquireAsync().join();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        one.close();
        assertThat(held.isHeld()).isFalse();
        two.close();
        assertThat(waiting).isCompletedExceptionally();
        assertThat(store.rows).isEmpty();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S09_theBlockingFormsRunOnlyUnderTheLock() throws Exception {
        DistributedLock lock = one.named("x");
        List<String> ran = new ArrayList<>();
        assertThat(lock.name()).isEqualTo("x");
        assertThat(lock.tryAcquire()).hasValueSatisfying(Lease::release);
        assertThat(lock.tryAcquire(Duration.ofSeconds(1))).hasValueSatisfying(Lease::release);
        assertThat(lock.tryRun(Duration.ZERO, lease -> ran.add(lease.lockName())))
                .isTrue();
        assertThat(lock.<String, RuntimeException>tryCall(Duration.ZERO, lease -> "result"))
                .contains("result");
        Lease held = two.named("x").acquire();
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryRun(Duration.ZERO, lease -> ran.add("busy"))).isFalse();
        assertThat(lock.tryCall(Duration.ZERO, lease -> ran.add("busy"))).isEmpty();
        held.release();
        assertThat(ran).containsExactly("x");
    }

    @Test
    void S07_aFailureOfAnAsynchronousBodyKeepsTheLossAsSuppressed() {
        CompletableFuture<Void> body = new CompletableFuture<>();
        // A copy is a dependent stage, which wraps the failure.
        CompletableFuture<Void> call = one.named("x").callAsync(lease -> body.copy());
        store.rows.clear();
        IllegalStateException failure = new IllegalStateException("of the body");
        body.completeExceptionally(failure);
        assertThatThrownBy(call::join).hasCause(failure);
        assertThat(failure.getSuppressed())
                .singleElement()
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        lost -> assertThat(lost).hasMessageContaining("the store no longer had the grant"));
    }

    @Test
    void S07_aLeaseThatIsNotHeldSaysWhy() {
        Lease released = one.named("x").acquireAsync().join();
        released.ensureHeld();
        assertThat(released)
                .hasToString("Lease[x, owner " + released.ownerId() + ", token " + released.fencingToken() + ", held]");
        released.release();
        assertThat(released.toString()).endsWith(", ended]");
        assertThatThrownBy(released::ensureHeld)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("\"x\"")
                .hasMessageContaining("REMOVED (the lease was released)");

        Lease removed = one.named("x").acquireAsync().join();
        store.rows.clear();
        assertThat(removed.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThatThrownBy(removed::ensureHeld)
                .hasMessageContaining("REMOVED (the store no longer had the grant when it was released)");

        Lease expired = one.named("x").acquireAsync().join();
        store.hung = true;
        clock.advance(Duration.ofSeconds(30));
        assertThatThrownBy(expired::ensureHeld)
                .hasMessageContaining("EXPIRED (no renewal succeeded before the deadline");
        store.hung = false;
        clock.advance(Duration.ofMinutes(1)); // the cleanup of the expired lease

        Lease closed = one.named("y").acquireAsync().join();
        one.close();
        assertThatThrownBy(closed::ensureHeld).hasMessageContaining("CLIENT_CLOSED (the client was closed)");
    }

    @Test
    void S07_timersOfALeaseEndWithIt() {
        List<String> ran = new ArrayList<>();
        int before = clock.timerCount();
        Lease lease = one.named("x", LockOptions.defaults().maxHold(Duration.ofSeconds(20)))
                .acquireAsync()
                .join();
        lease.onExpiring(Duration.ofSeconds(5), () -> ran.add("expiring"));
        int timersOfTheKeeper = 2; // they remain, and serve all leases
        assertThat(clock.timerCount()).isGreaterThan(before + timersOfTheKeeper);
        lease.release();
        assertThat(clock.timerCount()).isLessThanOrEqualTo(before + timersOfTheKeeper);
        clock.advance(Duration.ofMinutes(1));
        assertThat(ran).isEmpty();
        assertThat(lease.lost()).isNotDone();
    }

    @Test
    void backoffDoublesWithJitterUpToItsLimit() {
        Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1), new java.util.Random(1));
        long least = 50;
        for (int i = 0; i < 40; i++) {
            assertThat(backoff.next().toMillis()).isBetween(least, least + least / 5);
            least = Math.min(1_000, least * 2);
        }
        backoff.reset();
        assertThat(backoff.next().toMillis()).isBetween(50L, 60L);
    }

    @Test
    void S05_aDelayedReleaseKeepsTheLockForTheDelayAndNoLonger() {
        Lease lease = one.named("x").acquireAsync().join();
        CompletableFuture<LossReason> lost = lease.lost();
        assertThat(lease.releaseAfterAsync(Duration.ofMinutes(2)).join()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.releaseAsync().join()).as("idempotent").isEqualTo(ReleaseOutcome.RELEASED);
        one.close();
        clock.advance(Duration.ofSeconds(119));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        Lease next = two.named("x").tryAcquireAsync(Duration.ZERO).join().orElseThrow();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(lost).isNotDone();
    }

    @Test
    void S05_aRepeatedDelayedReleaseKeepsTheLockNoLonger() {
        Lease lease = one.named("x").acquireAsync().join();
        store.hung = true;
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAfterAsync(Duration.ofSeconds(10));
        clock.advance(Duration.ofSeconds(4));
        assertThat(outcome.join()).as("after a request timeout").isEqualTo(ReleaseOutcome.UNKNOWN);
        store.hung = false;
        clock.advance(Duration.ofSeconds(5));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        clock.advance(Duration.ofMillis(1_001));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isPresent();
    }

    @Test
    void S05_aDelayedReleaseThatArrivesAfterTheDelayReleasesAtOnce() {
        Lease lease = one.named("x").acquireAsync().join();
        store.hung = true;
        lease.releaseAfterAsync(Duration.ofSeconds(1));
        clock.advance(Duration.ofSeconds(5));
        store.hung = false;
        clock.advance(Duration.ofSeconds(2));
        assertThat(store.rows).isEmpty();
    }

    /** It is executed after the delayed release, which is sent again then. */
    @Test
    void S05_aRenewalUnderWayDoesNotReplaceTheDelay() {
        Lease lease = one.named("x").acquireAsync().join();
        store.renewalDelay = Duration.ofMillis(500);
        clock.advance(Duration.ofSeconds(10));
        store.renewalDelay = Duration.ZERO;
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAfterAsync(Duration.ofSeconds(5));
        assertThat(outcome).isCompletedWithValue(ReleaseOutcome.RELEASED);
        clock.advance(Duration.ofSeconds(5));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isPresent();
    }

    /** The renewal hangs for longer than the lease, which would end before a delayed release that waits for it. */
    @Test
    void S05_aDelayedReleaseDoesNotWaitForARenewalThatHangs() {
        Lease lease = patient(Duration.ofSeconds(4));
        store.renewalDelay = Duration.ofDays(1);
        clock.advance(Duration.ofMillis(1_500));
        store.renewalDelay = Duration.ZERO;
        assertThat(lease.releaseAfterAsync(Duration.ofSeconds(60))).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertFreeAfter(Duration.ofSeconds(60));
    }

    /** Each is executed after the lease would have ended, the last one after its request timeout too. */
    @Test
    void S05_aRenewalThatIsExecutedLongAfterADelayedReleaseDoesNotReplaceTheDelay() {
        for (int late = 1_500; late <= 5_500; late += 500) {
            Lease lease = patient(Duration.ofSeconds(1));
            store.renewalDelay = Duration.ofMillis(late);
            clock.advance(Duration.ofMillis(400));
            store.renewalDelay = Duration.ZERO;
            lease.releaseAfterAsync(Duration.ofSeconds(60));
            assertFreeAfter(Duration.ofSeconds(60));
        }
    }

    /** Returns a lease of a client with the default request timeout, 5 s. */
    private Lease patient(Duration leaseDuration) {
        return BackendClients.open(
                        context -> new LeaseStoreBackend(store, context),
                        ClientOptions.defaults().callbackExecutor(Runnable::run),
                        clock)
                .named("x", LockOptions.defaults().leaseDuration(leaseDuration))
                .acquireAsync()
                .join();
    }

    private void assertFreeAfter(Duration delay) {
        Duration step = Duration.ofMillis(100);
        for (Duration passed = Duration.ZERO; passed.compareTo(delay) < 0; passed = passed.plus(step)) {
            assertThat(store.grants())
                    .as("%s after the delayed release", passed)
                    .hasSize(1);
            clock.advance(step);
        }
        assertThat(store.grants()).isEmpty();
    }

    /** The second renewal is answered while the first is under way. */
    @Test
    void S05_anEarlierRenewalUnderWayDoesNotReplaceTheDelay() {
        LockOptions shortLease = LockOptions.defaults().leaseDuration(Duration.ofSeconds(1));
        Lease lease = one.named("x", shortLease).acquireAsync().join();
        store.renewalDelay = Duration.ofMillis(800);
        clock.advance(Duration.ofMillis(400));
        store.renewalDelay = Duration.ZERO;
        clock.advance(Duration.ofMillis(300));
        lease.releaseAfterAsync(Duration.ofSeconds(5));
        clock.advance(Duration.ofMillis(4_900));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
    }

    /** The renewal times out after a second, and is executed after the delayed release. */
    @Test
    void S05_aRenewalThatIsExecutedLateDoesNotReplaceTheDelay() {
        Lease lease = one.named("x").acquireAsync().join();
        store.renewalDelay = Duration.ofSeconds(2);
        clock.advance(Duration.ofSeconds(10));
        store.renewalDelay = Duration.ZERO;
        lease.releaseAfterAsync(Duration.ofSeconds(5));
        clock.advance(Duration.ofMillis(4_900));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        clock.advance(Duration.ofMillis(101));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isPresent();
    }

    /** The first request for the lock had no reply, and is executed when the lock is free again. */
    @Test
    void S08_anAcquireThatIsExecutedAfterADelayedReleaseIsCleanedUp() {
        store.executionDelay = Duration.ofSeconds(2);
        CompletableFuture<Lease> acquiring = one.named("x").acquireAsync();
        store.executionDelay = Duration.ZERO;
        clock.advance(Duration.ofMillis(200));
        acquiring.join().releaseAfterAsync(Duration.ofMillis(500));
        clock.advance(Duration.ofMillis(499));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join())
                .as("no cleanup frees it earlier")
                .isEmpty();
        clock.advance(Duration.ofMillis(1_302));
        assertThat(store.grants()).as("the late request has executed").hasSize(1);
        clock.advance(Duration.ofSeconds(3));
        assertThat(store.grants()).isEmpty();
    }

    @Test
    void S05_aDelayedReleaseOfALostLeaseSendsNothing() {
        Lease lease = one.named("x").acquireAsync().join();
        clock.advanceWithoutTimers(Duration.ofSeconds(31));
        assertThat(lease.releaseAfterAsync(Duration.ofMinutes(1)).join()).isEqualTo(ReleaseOutcome.LOST);
        clock.advance(Duration.ofSeconds(1));
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isPresent();
    }

    @Test
    void S14_aDelayOutOfRangeIsRefusedBeforeAnyIo() {
        Lease lease = one.named("x").acquireAsync().join();
        store.requests.set(0);
        for (Duration delay : List.of(Duration.ofMillis(-1), Duration.ofHours(1).plusNanos(1))) {
            assertThatThrownBy(() -> lease.releaseAfterAsync(delay))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("delay is " + delay + ", must be from PT0S to PT1H");
        }
        assertThat(store.requests).hasValue(0);
        assertThat(lease.isHeld()).isTrue();
    }
}
