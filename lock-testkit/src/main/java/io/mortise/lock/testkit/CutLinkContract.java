// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that a client recovers after its connections were reset and new ones were refused for a while.
 *
 * <p>Needs a {@link Faults#link} that can be cut.
 */
interface CutLinkContract extends Contract {
    ClientOptions LONG_OUTAGE_LIMIT =
            ClientOptions.defaults().requestTimeout(Duration.ofMillis(500)).unavailableAfter(ContractTestFixture.LONG);

    @ParameterizedTest
    @EnumSource
    default void S07_aShortCutKeepsTheLeaseOrReportsItsLoss(ApiStyle style) throws Exception {
        LockClient client = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient other = fixture().client();
        Lease lease = style.acquire(client.named("x", fixture().shortLease(client)));
        CompletableFuture<LossReason> lost = lease.lost();
        Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().faultInjector().cut(client, "S02, S05, S07 over a short cut");
        Duration lasting = fixture().backend().lease().dividedBy(10);
        ContractTestFixture.letPass("the cut has lasted", lasting);
        fixture().faultInjector().heal(client);
        // Whether or not the lease survived, its client works again.
        style.release(
                style.tryAcquire(client.named("y"), ContractTestFixture.LONG).orElseThrow());
        assertThat(waiting.isDone() && lease.isHeld())
                .as("S02: two leases are held")
                .isFalse();
        ReleaseOutcome outcome = style.release(lease);
        ContractTestFixture.assertConsistent(outcome, lease);
        Lease next = ApiStyle.result(waiting);
        ContractTestFixture.assertTokensIncrease(other, lease, next);
        assertThat(lost.isDone()).as("lost() completed").isEqualTo(outcome == ReleaseOutcome.LOST);
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** Releases one lock while the link is cut, so that no hint can arrive, and the other lock afterwards. */
    @ParameterizedTest
    @EnumSource
    default void S11_waitersSurviveAShortCut(ApiStyle style) throws Exception {
        LockClient client = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient other = fixture().client();
        Lease during = other.named("during").acquire();
        Lease after = other.named("after").acquire();
        Future<Lease> one = fixture().start(() -> style.acquire(client.named("during")));
        Future<Lease> two = fixture().start(() -> style.acquire(client.named("after")));
        ContractTestFixture.awaitWaiters(other, "during", 1);
        ContractTestFixture.awaitWaiters(other, "after", 1);
        fixture().faultInjector().cut(client, "S11 for waiters over a short cut");
        assertThat(style.release(during)).isEqualTo(ReleaseOutcome.RELEASED);
        Duration lasting = fixture().backend().lease().dividedBy(10);
        ContractTestFixture.letPass("the cut has lasted", lasting);
        assertThat(two.isDone()).isFalse();
        fixture().faultInjector().heal(client);
        assertThat(style.release(after)).isEqualTo(ReleaseOutcome.RELEASED);
        for (Future<Lease> waiting : List.of(one, two)) {
            Lease lease = ApiStyle.result(waiting);
            assertThat(lease.isHeld()).isTrue();
            assertThat(style.release(lease))
                    .isNotEqualTo(ReleaseOutcome.LOST); // UNKNOWN if the store is slow at this moment
            fixture().assertFree(other, lease.lockName());
        }
    }

    /** The lease is so long, where the backend has such leases, that no expiry frees the lock in time. */
    @ParameterizedTest
    @EnumSource
    default void S08_aReleaseDuringACutIsBoundedAndCleanedUp(ApiStyle style) throws Exception {
        LockClient client = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient other = fixture().client();
        Lease lease = style.acquire(client.named("x"));
        Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().faultInjector().cut(client, "S08 for a release during a cut");
        long start = System.nanoTime();
        ReleaseOutcome outcome = style.release(lease);
        assertThat(outcome)
                .as("the client cannot know that the release was executed")
                .isNotEqualTo(ReleaseOutcome.RELEASED);
        ContractTestFixture.assertConsistent(outcome, lease); // LOST if the grant ends with the connection
        assertThat(DurationAssertions.since(start))
                .as("release")
                .isLessThan(LONG_OUTAGE_LIMIT.requestTimeout().plus(ContractTestFixture.PROMPT));
        assertThat(lease.isHeld()).isFalse();
        fixture().faultInjector().heal(client);
        long healed = System.nanoTime();
        Lease next = ApiStyle.result(waiting);
        assertThat(DurationAssertions.since(healed))
                .as("time until the cleanup")
                .isLessThan(fixture().backend().takeoverWithin());
        assertThat(style.release(lease)).as("outcome of a second release").isEqualTo(outcome);
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        style.release(
                style.tryAcquire(client.named("x"), ContractTestFixture.LONG).orElseThrow());
        fixture().assertFree(other, "x");
    }

    /** The link stays cut: a thread that tries to connect again must not need a success to end. */
    @Test
    @ResourceLock(Contract.SERVER)
    default void S16_theThreadsOfAClientThatIsCutOffEnd() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        LockClient client = fixture().client(ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)));
        client.named("x").acquire();
        fixture().faultInjector().cut(client, "S16 for the threads of a client that is cut off");
        ContractTestFixture.letPass("the client notices the cut", Duration.ofMillis(100));
        assertThat(catchThrowable(() -> client.named("y").tryAcquire()))
                .isInstanceOf(BackendUnavailableException.class);
        client.close();
        fixture().awaitThreadsEnd(before);
    }

    /** The first tries to withdraw and to release fail, but the store is back well within the time for which a close waits. */
    @Test
    default void S16_aCloseRepeatsWhatFailsDuringAShortCut() throws Exception {
        LockClient closing = fixture().client();
        LockClient other = fixture().client();
        Lease held = other.named("queued").acquire();
        Lease granted = closing.named("granted").acquire(); // so long, where possible, that no expiry frees it in time
        Lease released = closing.named("released").acquire();
        CompletableFuture<Lease> left = closing.named("queued").acquireAsync();
        ContractTestFixture.awaitWaiters(other, "queued", 1);
        closing.named("queued").acquireAsync();
        Lease heldToo = other.named("queued too").acquire();
        closing.named("queued too").acquireAsync();
        ContractTestFixture.awaitWaiters(other, "queued too", 1);
        fixture().faultInjector().cut(closing, "S16 for a close during a short cut");
        released.releaseAsync();
        left.cancel(true);
        ContractTestFixture.letPass("requests fail before the close", Duration.ofMillis(100));
        long start = System.nanoTime();
        Future<?> close = fixture().start(() -> {
            closing.close();
            return null;
        });
        ContractTestFixture.eventually("the close has begun", ContractTestFixture.PROMPT, () -> !granted.isHeld());
        ContractTestFixture.letPass("requests fail after it", Duration.ofMillis(300));
        fixture().faultInjector().heal(closing);
        ApiStyle.result(close);
        assertThat(DurationAssertions.since(start))
                .as("close")
                .isLessThan(ClientOptions.defaults()
                        .requestTimeout()
                        .multipliedBy(2)
                        .plus(ContractTestFixture.PROMPT));
        for (Lease lease : List.of(granted, released)) {
            fixture().assertFree(other, lease.lockName());
        }
        for (Lease lease : List.of(held, heldToo)) {
            fixture().assertNoWaiters(other, lease.lockName());
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            fixture().assertFree(other, lease.lockName());
        }
    }

    /**
     * The waiter is cut off too, so the cleanup of the expired grant is the first request that the store gets for the lock. It must
     * not hand the lock on twice.
     */
    @Test
    default void S05_theCleanupOfAnExpiredGrantSparesTheNextOwner() throws Exception {
        LockClient cutOff = fixture().client();
        LockClient waiter = fixture()
                .client(ClientOptions.defaults()
                        .requestTimeout(Duration.ofSeconds(2))
                        .unavailableAfter(Duration.ofDays(1)));
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        Lease expired = cutOff.named("x", fixture().shortLease(cutOff)).acquire();
        CompletableFuture<Lease> waiting =
                waiter.named("x", fixture().shortLease(waiter)).acquireAsync();
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().faultInjector().cut(cutOff, "S05 for the cleanup of an expired grant");
        fixture().faultInjector().cut(waiter, "S05 for the cleanup of an expired grant");
        ContractTestFixture.letPass(
                "the grant expires", fixture().backend().lease().plusMillis(300));
        assertThat(expired.isHeld()).isFalse();
        fixture().faultInjector().heal(cutOff);
        ContractTestFixture.letPass("the cleanup is executed", Duration.ofMillis(1_500));
        fixture().faultInjector().heal(waiter);
        Lease next = ApiStyle.result(waiting);
        ContractTestFixture.throughout(
                "half a lease passes", fixture().backend().lease().dividedBy(2), () -> {
                    Optional<Lease> second = other.named("x").tryAcquire();
                    assertThat(second.isPresent() && next.isHeld())
                            .as("S01: two leases are held")
                            .isFalse();
                    second.ifPresent(Lease::release);
                });
        assertThat(expired.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** The release begins while the lease is held, and the store gets it when the grant has expired and the next one is made. */
    @Test
    default void S05_aReleaseThatArrivesAfterTheExpiryIsNotReportedAsReleased() throws Exception {
        Duration lease = fixture().backend().lease();
        LockClient cutOff = fixture().client(ClientOptions.defaults().requestTimeout(lease.multipliedBy(2)));
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        Lease expiring = cutOff.named("x", fixture().shortLease(cutOff)).acquire();
        fixture().faultInjector().cut(cutOff, "S05 for a release that arrives late");
        ContractTestFixture.eventually(
                "the lease is about to expire",
                lease.plus(ContractTestFixture.PROMPT),
                () -> expiring.remaining().compareTo(Duration.ofMillis(600)) < 0);
        CompletableFuture<ReleaseOutcome> outcome = expiring.releaseAsync();
        Lease next = other.named("x")
                .tryAcquire(fixture().backend().takeoverWithin())
                .orElseThrow();
        fixture().faultInjector().heal(cutOff);
        assertThat(ApiStyle.result(outcome)).as("S05").isNotEqualTo(ReleaseOutcome.RELEASED);
        assertThat(next.isHeld()).isTrue();
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** The waiter asks rarely. The time since its last reply is longer than the limit, but the outage is not. */
    @Test
    default void S15_timeWithoutRequestsIsNoOutage() throws Exception {
        LockClient client = fixture()
                .client(ClientOptions.defaults()
                        .requestTimeout(Duration.ofSeconds(1))
                        .unavailableAfter(Duration.ofSeconds(5)));
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(other, "x", 1);
        ContractTestFixture.letPass("a time without requests passes", Duration.ofMillis(3_500));
        fixture().faultInjector().silence(client, "S15 for a waiter that asks rarely");
        ContractTestFixture.letPass("a request fails", Duration.ofMillis(3_700));
        assertThat(waiting).as("S15: the wait after a short outage").isNotDone();
        fixture().faultInjector().heal(client);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease lease = ApiStyle.result(waiting);
        ContractTestFixture.assertConsistent(lease.release(), lease);
    }

    /** Each outage is shorter than the limit, which counts neither the time before it nor an earlier outage. */
    @Test
    @Timeout(120)
    default void S15_shortOutagesAfterALongWaitEndNoWait() throws Exception {
        Duration limit = Duration.ofSeconds(6);
        LockClient client = fixture()
                .client(ClientOptions.defaults()
                        .requestTimeout(Duration.ofSeconds(1))
                        .unavailableAfter(limit));
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        CompletableFuture<Lease> waiting =
                client.named("x", fixture().shortLease(client)).acquireAsync();
        Lease heldToo = other.named("y").acquire();
        CompletableFuture<Lease> waitingToo = client.named("y").acquireAsync(); // asks rarely, since its lease is long
        ContractTestFixture.awaitWaiters(other, "x", 1);
        ContractTestFixture.awaitWaiters(other, "y", 1);
        for (int outage = 0; outage < 2; outage++) {
            ContractTestFixture.letPass("a time without outage passes", limit.plusMillis(500));
            fixture().faultInjector().cut(client, "S15 for short outages");
            ContractTestFixture.letPass("a request fails", limit.dividedBy(4));
            assertThat(waiting)
                    .as("the wait after %s of outage", limit.dividedBy(4))
                    .isNotDone();
            fixture().faultInjector().heal(client);
        }
        assertThat(client.named("z").tryRun(ContractTestFixture.LONG, Lease::ensureHeld))
                .as("the client has reconnected")
                .isTrue();
        for (CompletableFuture<Lease> one : List.of(waiting, waitingToo)) {
            assertThat(one).as("the wait after two short outages").isNotDone();
        }
        held.release();
        heldToo.release();
        for (CompletableFuture<Lease> one : List.of(waiting, waitingToo)) {
            Lease lease = ApiStyle.result(one);
            ContractTestFixture.assertConsistent(lease.release(), lease);
        }
    }

    /** More requests than a pool has connections fail while they are under way; none may keep its connection for good. */
    @Test
    default void S15_aClientWorksAgainAfterManyOfItsRequestsFailedTogether() throws Exception {
        LockClient client = fixture().client(LONG_OUTAGE_LIMIT);
        for (int round = 0; round < 2; round++) {
            // A pool opens its connections when they are needed.
            fixture().acquireAll(client, "before/" + round + "/", 50).forEach(Lease::releaseAsync);
            fixture().faultInjector().silence(client, "S15 after requests that failed together");
            List<CompletableFuture<Optional<Lease>>> requests = new ArrayList<>();
            for (int i = 0; i < 2 * BackendContext.BLOCKING_CALLS; i++) {
                requests.add(client.named("during/" + round + "/" + i).tryAcquireAsync(Duration.ZERO));
            }
            ContractTestFixture.letPass("the requests are under way", LONG_OUTAGE_LIMIT.requestTimeout());
            fixture().faultInjector().cut(client, "S15 after requests that failed together");
            for (CompletableFuture<Optional<Lease>> request : requests) {
                assertThat(catchThrowable(() -> ApiStyle.result(request)))
                        .isInstanceOf(BackendUnavailableException.class);
            }
            fixture().faultInjector().heal(client);
        }
        assertThat(client.named("x").tryAcquire(ContractTestFixture.LONG))
                .as("a lease after the outage")
                .isPresent();
    }

    /** A busy answer from before the cut says nothing about the lock now. */
    @ParameterizedTest
    @EnumSource
    default void S15_aCutIsNotReportedAsBusy(ApiStyle style) throws Exception {
        LockClient client = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        assertThat(style.tryAcquire(client.named("x"), Duration.ZERO)).isEmpty();
        fixture().faultInjector().cut(client, "S15 for a lock that was busy before the cut");
        for (Duration maxWait : List.of(Duration.ZERO, Duration.ofMillis(300))) {
            assertThat(catchThrowable(() -> style.tryAcquire(client.named("x"), maxWait)))
                    .as("tryAcquire(%s) over a link that is cut", maxWait)
                    .isInstanceOf(BackendUnavailableException.class);
        }
        fixture().faultInjector().heal(client);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        style.release(
                style.tryAcquire(client.named("x"), ContractTestFixture.LONG).orElseThrow());
        fixture().assertFree(other, "x");
    }

    /** The withdrawal reaches the store when the link is healed; without it the lock would be granted to nobody for a lease. */
    @Test
    default void S10_aWaiterThatLeftDuringACutIsNotGrantedTheLock() throws Exception {
        LockClient holder = fixture().client();
        LockClient cutOff = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient other = fixture().client();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> left = cutOff.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        fixture().faultInjector().cut(cutOff, "S10 for a waiter that leaves during a cut");
        left.cancel(true);
        ContractTestFixture.letPass("a withdrawal fails", LONG_OUTAGE_LIMIT.requestTimeout());
        fixture().faultInjector().heal(cutOff);
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        ContractTestFixture.letPass("the withdrawal is executed", Duration.ofMillis(1_500));
        long start = System.nanoTime();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = ApiStyle.result(waiting);
        assertThat(DurationAssertions.since(start))
                .as("S10: from the release to the grant of the waiter that is left")
                .isLessThan(ContractTestFixture.PROMPT.multipliedBy(2));
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(holder, "x");
    }

    /** The first waiter's requests fail for a moment, much shorter than a lease. */
    @Test
    default void S12_aWaiterKeepsItsPlaceOverAShortCut() throws Exception {
        LockClient holder = fixture().client();
        LockClient first = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient second = fixture().client();
        ContractTestFixture.onlyIf(holder, Capability.FAIR);
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> one =
                first.named("x", fixture().shortLease(first)).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        CompletableFuture<Lease> two = second.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 2);
        Duration half = fixture().backend().lease().dividedBy(2);
        // A session must outlast the time since its last ping, the cut and the reconnect.
        Duration cut = first.capabilities().contains(Capability.PER_LOCK_LEASE) ? half : half.dividedBy(2);
        fixture().faultInjector().cut(first, "S12 over a short cut");
        ContractTestFixture.letPass("a request of the waiter fails", cut);
        fixture().faultInjector().heal(first);
        assertThat(first.named("y").tryRun(ContractTestFixture.LONG, Lease::ensureHeld))
                .as("the client has reconnected")
                .isTrue();
        ContractTestFixture.letPass("the waiter has asked again", half);
        held.release();
        ContractTestFixture.eventually(
                "a waiter is granted", ContractTestFixture.LONG, () -> one.isDone() || two.isDone());
        assertThat(two).as("S12: the wait of the second waiter").isNotDone();
        Lease next = one.join();
        ContractTestFixture.assertConsistent(next.release(), next);
        assertThat(ApiStyle.result(two).release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(holder, "x");
    }

    /** Hints arrive again once the client has reconnected, for waiters from before the cut and for new ones. */
    @Test
    default void S11_releasesWakeWaitersAfterACut() throws Exception {
        LockClient client = fixture().client(LONG_OUTAGE_LIMIT);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.PUSH);
        Lease before = other.named("before").acquire();
        Lease after = other.named("after").acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        waiting.add(client.named("before").acquireAsync());
        ContractTestFixture.awaitWaiters(other, "before", 1);
        fixture().faultInjector().cut(client, "S11 after a cut");
        ContractTestFixture.letPass("the cut lasts", Duration.ofMillis(300));
        fixture().faultInjector().heal(client);
        assertThat(client.named("y").tryRun(ContractTestFixture.LONG, Lease::ensureHeld))
                .as("the client has reconnected")
                .isTrue();
        waiting.add(client.named("after").acquireAsync());
        ContractTestFixture.awaitWaiters(other, "before", 1);
        ContractTestFixture.awaitWaiters(other, "after", 1);
        ContractTestFixture.letPass("subscriptions are renewed", Duration.ofSeconds(2));
        for (Lease held : List.of(before, after)) {
            long start = System.nanoTime();
            held.release();
            CompletableFuture<Lease> next = waiting.get(held == before ? 0 : 1);
            ContractTestFixture.eventually("S11: granted", ContractTestFixture.LONG, next::isDone);
            assertThat(DurationAssertions.since(start))
                    .as("S11: from the release of \"%s\" to the grant", held.lockName())
                    .isLessThan(ContractTestFixture.PROMPT);
            next.join().close();
        }
    }
}
