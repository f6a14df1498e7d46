// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that an executed request whose reply was lost leaves no orphaned grant.
 *
 * <p>Rules S05, S08. Needs a {@link Faults#link} that drops replies.
 */
interface LostReplyContract extends Contract {
    /** The request timeout after which a client detects a lost reply if its link stays open. */
    ClientOptions SHORT_REQUEST_TIMEOUT = ClientOptions.defaults()
            .requestTimeout(Duration.ofMillis(400))
            .unavailableAfter(
                    ContractTestFixture.LONG); // reconnecting takes time if the connection broke with the reply

    /** The client must find the grant whose reply was lost: that grant must not block the same client. */
    @ParameterizedTest
    @EnumSource
    default void S08_anAcquireIsGrantedThoughItsReplyWasLost(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        for (int i = 0; i < 2; i++) {
            fixture().faultInjector().dropNextReply(client, "S08 when the reply to an acquire is lost");
            // The lease is longer than the wait, so that its expiry cannot be what frees the lock.
            Lease lease = style.tryAcquire(client.named("x"), ContractTestFixture.LONG)
                    .orElseThrow();
            Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
            ContractTestFixture.awaitWaiters(other, "x", 1);
            assertThat(waiting.isDone() && lease.isHeld())
                    .as("S01: two leases are held")
                    .isFalse();
            ContractTestFixture.assertConsistent(style.release(lease), lease);
            Lease next = ApiStyle.result(waiting);
            ContractTestFixture.assertTokensIncrease(other, lease, next);
            assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        }
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S08_aLostReplyDoesNotBlockTheNextWaiter(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        fixture().faultInjector().dropNextReply(client, "S08 when the reply to an acquire is lost");
        Future<Lease> acquiring =
                fixture().start(() -> style.acquire(client.named("x", fixture().shortLease(client))));
        CompletableFuture<ReleaseOutcome> behind =
                other.named("x").acquireAsync().thenCompose(Lease::releaseAsync);
        Lease lease = ApiStyle.result(acquiring);
        ContractTestFixture.assertConsistent(style.release(lease), lease);
        assertThat(ApiStyle.result(behind)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    @Test
    default void S08_anAcquireThatGaveUpOnALostReplyLeavesNoOrphan() throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        Duration maxWait = Duration.ofMillis(50);
        // The cleanup starts once the client can have detected the lost reply; reconnecting takes time as well.
        Duration healthy = SHORT_REQUEST_TIMEOUT.requestTimeout().plusSeconds(1);
        AtomicInteger round = new AtomicInteger();
        DurationAssertions.overshoot(
                "until the cleanup is done", fixture().backend().lease().plus(healthy), healthy, () -> {
                    int number = round.getAndIncrement();
                    ApiStyle style = number % 2 == 0 ? ApiStyle.SYNC : ApiStyle.ASYNC;
                    String name =
                            "x" + number; // a minority of the servers may not have cleaned up the previous name yet
                    client.named("y", fixture().shortLease(client))
                            .tryRun(ContractTestFixture.LONG, Lease::ensureHeld); // reconnects
                    fixture().faultInjector().dropNextReply(client, "S08 when the reply to an acquire is lost");
                    long start = System.nanoTime();
                    Optional<Lease> lease = Optional.empty();
                    try {
                        lease = style.tryAcquire(client.named(name, fixture().shortLease(client)), maxWait);
                        assertThat(lease)
                                .as("S15: no reply must not be reported as busy")
                                .isPresent();
                    } catch (BackendUnavailableException e) {
                        assertThat(DurationAssertions.since(start))
                                .as("S09")
                                .isLessThan(maxWait.plus(ContractTestFixture.PROMPT));
                    }
                    long ended = System.nanoTime();
                    if (lease.isPresent()) {
                        ContractTestFixture.assertConsistent(style.release(lease.get()), lease.get());
                    }
                    assertThat(other.named(name).tryAcquire(fixture().backend().takeoverWithin()))
                            .as("the lock")
                            .hasValueSatisfying(Lease::close);
                    return DurationAssertions.since(ended);
                });
        for (int number = 0; number < round.get(); number++) {
            fixture().assertFree(other, "x" + number);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S05_aReleaseWhoseReplyWasLostDoesNotReportLost(ApiStyle style) throws Exception {
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        for (ClientOptions timeouts :
                List.of(SHORT_REQUEST_TIMEOUT, SHORT_REQUEST_TIMEOUT.requestTimeout(Duration.ofSeconds(2)))) {
            LockClient client = fixture().client(timeouts);
            Lease lease = style.tryAcquire(client.named("x", fixture().shortLease(client)), ContractTestFixture.LONG)
                    .orElseThrow();
            fixture().faultInjector().dropNextReply(client, "S05, S08 when the reply to a release is lost");
            long start = System.nanoTime();
            ReleaseOutcome outcome = style.release(lease);
            assertThat(DurationAssertions.since(start))
                    .as("release")
                    .isLessThan(timeouts.requestTimeout().plus(ContractTestFixture.PROMPT));
            ContractTestFixture.assertConsistent(outcome, lease);
            assertThat(lease.isHeld()).isFalse();
            Lease next = other.named("x")
                    .tryAcquire(fixture().backend().takeoverWithin())
                    .orElseThrow();
            assertThat(style.release(lease)).as("released again").isEqualTo(outcome);
            assertThat(third.named("x").tryAcquire()).as("the successor's lock").isEmpty();
            assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        }
        fixture().assertFree(other, "x");
    }

    /** The client sends the release again when another of its leases may have the lock. */
    @Test
    default void S05_aRepeatedReleaseSparesTheNextLeaseOfItsClient() throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        for (boolean queued : new boolean[] {false, true}) { // requested after or before the release
            Lease lease = client.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
            CompletableFuture<Lease> waiting = queued ? client.named("x").acquireAsync() : new CompletableFuture<>();
            if (queued) {
                ContractTestFixture.awaitWaiters(other, "x", 1);
            }
            fixture().faultInjector().dropNextReply(client, "S05 when the reply to a release is lost");
            CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync();
            Lease next = ApiStyle.result(queued ? waiting : client.named("x").acquireAsync());
            ContractTestFixture.assertConsistent(ApiStyle.result(outcome), lease);
            ContractTestFixture.throughout(
                    "the release is repeated",
                    SHORT_REQUEST_TIMEOUT.requestTimeout().multipliedBy(3),
                    () -> assertThat(other.named("x").tryAcquire().isPresent() && next.isHeld())
                            .as("S05: the lock is free, though the client holds it again")
                            .isFalse());
            ContractTestFixture.assertConsistent(next.release(), next);
        }
        fixture().assertFree(other, "x");
    }

    /** The link is so slow that each position falls into a different round trip, from the first request to the release. */
    @Test
    default void S08_theLockStaysUsableWhicheverReplyOfACycleIsLost() throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        Duration roundTrip = Duration.ofMillis(10);
        fixture().faultInjector().delay(client, roundTrip.dividedBy(2), "S08 for each reply of a cycle");
        for (int position = 0; position < 6; position++) {
            ApiStyle style = position % 2 == 0 ? ApiStyle.SYNC : ApiStyle.ASYNC;
            Lease before = other.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
            long start = System.nanoTime();
            Future<Lease> cycle = fixture().start(() -> {
                Lease lease = style.acquire(client.named("x", fixture().shortLease(client)));
                ContractTestFixture.assertConsistent(style.release(lease), lease);
                return lease;
            });
            Future<?> releasing = fixture().start(() -> {
                parkUntil(start + 4 * roundTrip.toNanos()); // the acquire is queued by this time
                return before.release();
            });
            parkUntil(start + position * roundTrip.toNanos() - roundTrip.toNanos() / 4);
            fixture().faultInjector().dropNextReply(client, "S08 for each reply of a cycle");
            ApiStyle.result(releasing);
            Lease released = ApiStyle.result(cycle);
            Lease after = other.named("x")
                    .tryAcquire(fixture().backend().takeoverWithin())
                    .orElseThrow();
            ContractTestFixture.assertTokensIncrease(other, before, released, after);
            assertThat(after.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        fixture().faultInjector().heal(client);
        fixture().assertFree(other, "x");
    }

    private static void parkUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** The first reply said that the lock is busy, and was lost; its cleanup must not end the grant that comes later. */
    @Test
    default void S08_theCleanupOfALostReplySparesTheGrantThatFollows() throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        Lease held = other.named("x").acquire();
        fixture().faultInjector().dropNextReply(client, "S08 when a busy reply is lost");
        CompletableFuture<Lease> waiting =
                client.named("x", fixture().shortLease(client)).acquireAsync();
        ContractTestFixture.letPass(
                "the request was sent again",
                SHORT_REQUEST_TIMEOUT.requestTimeout().multipliedBy(3));
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease lease = ApiStyle.result(waiting);
        CompletableFuture<Lease> last = third.named("x").acquireAsync();
        Duration duration = fixture().backend().lease();
        ContractTestFixture.throughout(
                "more than a lease passes", duration.multipliedBy(3).dividedBy(2), () -> {
                    assertThat(last.isDone() && lease.isHeld())
                            .as("S01: two leases are held")
                            .isFalse();
                    assertThat(lease.isHeld()).as("S07: held").isTrue();
                });
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(ApiStyle.result(last).release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** The first of several requests without a reply may be the one that was granted. */
    @Test
    default void S02_aGrantWhoseRepliesWereLostCountsFromTheFirstRequest() throws Exception {
        LockClient client = fixture().client(SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().dropNextReply(client, "S02 when replies are lost");
        Future<Lease> acquiring = fixture()
                .start(() -> client.named("x", fixture().shortLease(client)).acquire());
        ContractTestFixture.letPass(
                "the first request has been executed",
                SHORT_REQUEST_TIMEOUT.requestTimeout().dividedBy(2));
        fixture().faultInjector().dropNextReply(client, "S02 when replies are lost");
        Lease lease = ApiStyle.result(acquiring);
        CompletableFuture<Lease> waiting =
                other.named("x", fixture().shortLease(other)).acquireAsync();
        fixture().faultInjector().silence(client, "S02 when replies are lost");
        fixture().awaitTakeover(waiting, lease);
        assertThat(waiting.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** The reply is missed so late that the lease which it granted is of no use; it must be withdrawn, not waited for. */
    @Test
    default void S08_aGrantWhoseLostReplyIsMissedLateIsNotWaitedFor() throws Exception {
        Duration timeout = Duration.ofMillis(4_500);
        LockClient client = fixture()
                .client(ClientOptions.defaults().requestTimeout(timeout).unavailableAfter(ContractTestFixture.LONG));
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.PER_LOCK_LEASE);
        Duration duration = ContractTestFixture.firstGranted(
                client, Duration.ofSeconds(12), Duration.ofSeconds(9)); // a third is less than the timeout
        LockOptions options = LockOptions.defaults().leaseDuration(duration);
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().dropNextReply(client, "S08 when a reply is missed late");
        long start = System.nanoTime();
        Lease lease = ApiStyle.result(client.named("x", options).acquireAsync());
        assertThat(DurationAssertions.since(start))
                .as("until the lock was granted, whose first reply was lost")
                .isLessThan(timeout.plus(ContractTestFixture.PROMPT));
        assertThat(lease.remaining()).isPositive();
        assertThat(other.named("x").tryAcquire()).isEmpty();
        ContractTestFixture.assertConsistent(lease.release(), lease);
    }
}
