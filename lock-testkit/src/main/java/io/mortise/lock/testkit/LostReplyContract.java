// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract when a request was executed and its reply was lost (S05, S08). Needs a {@link Faults#link} that drops replies. */
interface LostReplyContract extends Contract {
    /** On a link that stays open a lost reply is noticed no earlier than this. */
    ClientOptions NOTICES_SOON = ClientOptions.defaults()
            .requestTimeout(Duration.ofMillis(400))
            .unavailableAfter(ContractFixture.LONG); // a connection that broke with the reply takes its time

    /** The grant that nobody was told of is found again: it must not stand in the way of its own client. */
    @ParameterizedTest
    @EnumSource
    default void S08_anAcquireIsGrantedThoughItsReplyWasLost(ApiStyle style) throws Exception {
        LockClient client = fixture().client(NOTICES_SOON);
        LockClient other = fixture().client();
        for (int i = 0; i < 2; i++) {
            fixture().nemesis().dropNextReply(client, "S08 when the reply to an acquire is lost");
            // A lease that outlasts the wait: expiry must not be what clears the way.
            Lease lease =
                    style.tryAcquire(client.named("x"), ContractFixture.LONG).orElseThrow();
            Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
            ContractFixture.awaitWaiters(other, "x", 1);
            assertThat(waiting.isDone() && lease.isHeld())
                    .as("S01: two believe")
                    .isFalse();
            ContractFixture.assertHonest(style.release(lease), lease);
            Lease next = ApiStyle.result(waiting);
            if (other.capabilities().contains(Capability.FENCING)) {
                assertThat(next.fencingToken()).as("S03").isGreaterThan(lease.fencingToken());
            }
            assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        }
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S08_aLostReplyHoldsUpNobodyBehindIt(ApiStyle style) throws Exception {
        LockClient client = fixture().client(NOTICES_SOON);
        LockClient other = fixture().client();
        fixture().nemesis().dropNextReply(client, "S08 when the reply to an acquire is lost");
        Future<Lease> acquiring =
                fixture().start(() -> style.acquire(client.named("x", fixture().shortLease(client))));
        CompletableFuture<ReleaseOutcome> behind =
                other.named("x").acquireAsync().thenCompose(Lease::releaseAsync);
        Lease lease = ApiStyle.result(acquiring);
        ContractFixture.assertHonest(style.release(lease), lease);
        assertThat(ApiStyle.result(behind)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    @Test
    default void S08_anAcquireThatGaveUpOnALostReplyLeavesNothing() throws Exception {
        LockClient client = fixture().client(NOTICES_SOON);
        LockClient other = fixture().client();
        Duration maxWait = Duration.ofMillis(50);
        // It begins once the loss can have been noticed; a connection that broke with the reply is not healthy at once.
        Duration healthy = NOTICES_SOON.requestTimeout().plusSeconds(1);
        AtomicInteger round = new AtomicInteger();
        DurationAssertions.overshoot(
                "until nothing is left", fixture().backend().lease().plus(healthy), healthy, () -> {
                    int number = round.getAndIncrement();
                    ApiStyle style = number % 2 == 0 ? ApiStyle.SYNC : ApiStyle.ASYNC;
                    String name =
                            "x" + number; // a minority of several servers may not have cleaned up the last one yet
                    client.named("y", fixture().shortLease(client))
                            .tryRun(ContractFixture.LONG, Lease::ensureHeld); // connected again
                    fixture().nemesis().dropNextReply(client, "S08 when the reply to an acquire is lost");
                    long start = System.nanoTime();
                    Optional<Lease> lease = Optional.empty();
                    try {
                        lease = style.tryAcquire(client.named(name, fixture().shortLease(client)), maxWait);
                        assertThat(lease).as("S15: no answer is not busy").isPresent();
                    } catch (BackendUnavailableException e) {
                        assertThat(DurationAssertions.since(start))
                                .as("S09")
                                .isLessThan(maxWait.plus(ContractFixture.PROMPT));
                    }
                    long over = System.nanoTime();
                    if (lease.isPresent()) {
                        ContractFixture.assertHonest(style.release(lease.get()), lease.get());
                    }
                    assertThat(other.named(name).tryAcquire(fixture().backend().takeoverWithin()))
                            .as("the lock")
                            .hasValueSatisfying(Lease::close);
                    return DurationAssertions.since(over);
                });
        for (int number = 0; number < round.get(); number++) {
            fixture().assertFree(other, "x" + number);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S05_aReleaseWhoseReplyWasLostIsNotCalledLost(ApiStyle style) throws Exception {
        LockClient client = fixture().client(NOTICES_SOON);
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        for (int i = 0; i < 2; i++) {
            Lease lease = style.tryAcquire(client.named("x", fixture().shortLease(client)), ContractFixture.LONG)
                    .orElseThrow();
            fixture().nemesis().dropNextReply(client, "S05, S08 when the reply to a release is lost");
            long start = System.nanoTime();
            ReleaseOutcome outcome = style.release(lease);
            assertThat(DurationAssertions.since(start))
                    .as("release")
                    .isLessThan(NOTICES_SOON.requestTimeout().plus(ContractFixture.PROMPT));
            ContractFixture.assertHonest(outcome, lease);
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

    /** Slowed down so much that each position falls into another round trip, from the first request to the release. */
    @Test
    default void S08_whicheverReplyOfACycleIsLostTheLockGoesOn() throws Exception {
        LockClient client = fixture().client(NOTICES_SOON);
        LockClient other = fixture().client();
        Duration roundTrip = Duration.ofMillis(10);
        fixture().nemesis().delay(client, roundTrip.dividedBy(2), "S08 for each reply of a cycle");
        for (int position = 0; position < 6; position++) {
            ApiStyle style = position % 2 == 0 ? ApiStyle.SYNC : ApiStyle.ASYNC;
            Lease before = other.named("x").tryAcquire(ContractFixture.LONG).orElseThrow();
            long start = System.nanoTime();
            Future<Lease> cycle = fixture().start(() -> {
                Lease lease = style.acquire(client.named("x", fixture().shortLease(client)));
                ContractFixture.assertHonest(style.release(lease), lease);
                return lease;
            });
            Future<?> releasing = fixture().start(() -> {
                parkUntil(start + 4 * roundTrip.toNanos()); // the acquire is queued by then
                return before.release();
            });
            parkUntil(start + position * roundTrip.toNanos() - roundTrip.toNanos() / 4);
            fixture().nemesis().dropNextReply(client, "S08 for each reply of a cycle");
            ApiStyle.result(releasing);
            Lease over = ApiStyle.result(cycle);
            Lease after = other.named("x")
                    .tryAcquire(fixture().backend().takeoverWithin())
                    .orElseThrow();
            if (other.capabilities().contains(Capability.FENCING)) {
                assertThat(over.fencingToken()).as("S03").isGreaterThan(before.fencingToken());
                assertThat(after.fencingToken()).as("S03").isGreaterThan(over.fencingToken());
            }
            assertThat(after.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        fixture().nemesis().heal(client);
        fixture().assertFree(other, "x");
    }

    private static void parkUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
