// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a delayed release ends the lease at once, and keeps the lock taken for the delay, with no client. Rule S05. */
interface DelayedReleaseContract extends Contract {
    /** The longest time from one request of a waiter to the next, with jitter, if no message wakes it (S11). */
    Duration FALLBACK = Duration.ofSeconds(7);

    @ParameterizedTest
    @EnumSource
    default void S05_aDelayedReleaseEndsTheLeaseAtOnceAndTheLockLater(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.DELAYED_RELEASE);
        Duration delay = fixture().acceptedDelay(one, Duration.ofSeconds(2));
        Lease lease = style.acquire(one.named("x")); // of the default duration, which is usually longer than the delay
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(losses::add);
        CompletableFuture<Long> granted = new CompletableFuture<>();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        waiting.thenRun(() -> granted.complete(System.nanoTime()));
        ContractTestFixture.awaitWaiters(two, "x", 1);
        long start = System.nanoTime();
        assertThat(style.releaseAfter(lease, delay)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(style.release(lease)).as("released again").isEqualTo(ReleaseOutcome.RELEASED);
        Duration longest = fixture().longestDelay(one);
        assertThat(style.releaseAfter(lease, longest)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = ApiStyle.result(waiting);
        Duration expiry =
                fixture().backend().takeoverWithin().minus(fixture().backend().lease());
        assertThat(Duration.ofNanos(granted.join() - start))
                .as("from the delayed release to the next grant")
                .isBetween(delay, delay.plus(expiry).plus(FALLBACK).plus(ContractTestFixture.PROMPT));
        ContractTestFixture.assertTokensIncrease(one, lease, next);
        assertThat(style.release(lease)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(next.isHeld()).as("the successor's lease").isTrue();
        next.close();
        assertThat(losses).isEmpty();
    }

    /** The delay is longer than the lease, which nobody renews any more; the holder's client and its session end meanwhile. */
    @Test
    default void S05_aDelayedReleaseOutlivesItsClient() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.DELAYED_RELEASE);
        Duration delay = fixture().backend().lease().plusSeconds(2);
        Lease lease = one.named("x", fixture().shortLease(one)).acquire();
        long start = System.nanoTime();
        assertThat(lease.releaseAfter(delay)).isEqualTo(ReleaseOutcome.RELEASED);
        one.close();
        if (two.capabilities().contains(Capability.HOLDER_INFO)) {
            assertThat(ContractTestFixture.status(two.admin().orElseThrow(), "x")
                            .holders())
                    .as("the lock is shown as held by its last holder")
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.owner()).contains(lease.ownerId()));
        }
        Lease next = two.named("x")
                .tryAcquire(delay.plus(fixture().backend().takeoverWithin()).plus(FALLBACK))
                .orElseThrow(() -> new AssertionError("the lock never became free"));
        assertThat(DurationAssertions.since(start))
                .as("from the delayed release to the next grant")
                .isGreaterThanOrEqualTo(delay);
        next.close();
    }

    @Test
    default void S05_aDelayedReleaseOfALostLeaseKeepsNothing() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.DELAYED_RELEASE);
        Lease lease = one.named("x").acquire();
        fixture().forceRelease("x", two, "S05");
        Lease successor = two.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
        assertThat(lease.releaseAfter(fixture().acceptedDelay(one, Duration.ofSeconds(2))))
                .isEqualTo(ReleaseOutcome.LOST);
        assertThat(successor.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(one, "x");
    }

    /** The store itself ends the delay: nobody has to read the grant before. */
    @Test
    default void S05_aLockIsFreeAfterItsDelayThoughNobodyAskedForIt() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.DELAYED_RELEASE);
        Duration delay = fixture().acceptedDelay(one, Duration.ofSeconds(2));
        Lease lease = one.named("x").acquire();
        assertThat(lease.releaseAfter(delay)).isEqualTo(ReleaseOutcome.RELEASED);
        Duration expiry =
                fixture().backend().takeoverWithin().minus(fixture().backend().lease());
        ContractTestFixture.letPass("the delay", delay.plus(expiry));
        assertThat(two.named("x").tryAcquire()).as("the lock").hasValueSatisfying(Lease::close);
    }

    /** A store that rounds this delay down may keep the lock for ever: to many stores a time to live of 0 is none. */
    @Test
    default void S05_aDelayBelowASecondEndsToo() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.DELAYED_RELEASE);
        Duration delay = Duration.ofMillis(300);
        Lease lease = one.named("x").acquire();
        long start = System.nanoTime();
        assertThat(lease.releaseAfter(delay)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = two.named("x")
                .tryAcquire(fixture().backend().takeoverWithin().plus(FALLBACK))
                .orElseThrow(() -> new AssertionError("S05: the lock never became free"));
        assertThat(DurationAssertions.since(start))
                .as("from the delayed release to the next grant")
                .isGreaterThanOrEqualTo(delay);
        next.close();
    }

    @Test
    default void S05_anOperatorFreesALockAfterADelayedRelease() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.DELAYED_RELEASE);
        Lease lease = one.named("x").acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        waiting.add(two.named("x").acquireAsync());
        ContractTestFixture.awaitWaiters(two, "x", 1);
        Duration longest = fixture().longestDelay(one);
        assertThat(lease.releaseAfter(longest)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(one.named("x").tryAcquire()).as("the kept lock").isEmpty();
        waiting.add(one.named("x").acquireAsync()); // of the last owner's client
        ContractTestFixture.awaitWaiters(two, "x", 2);
        waiting.forEach(each -> each.thenAccept(Lease::releaseAsync));
        fixture().forceRelease("x", two, "S05");
        boolean woken =
                two.capabilities().contains(Capability.PUSH) && two.admin().isPresent();
        ContractTestFixture.eventually(
                "S11: the waiters are granted the lock that an operator freed",
                woken ? ContractTestFixture.PROMPT : ContractTestFixture.PROMPT.plus(FALLBACK),
                () -> waiting.stream().allMatch(Future::isDone));
        fixture().assertFree(two, "x");
        fixture().assertFree(one, "x");
    }

    /** Other locks of the client, and later leases of the same lock, are not affected. */
    @Test
    default void S05_aDelayedReleaseSparesOtherLeasesOfItsClient() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.DELAYED_RELEASE);
        Lease other = client.named("y", fixture().shortLease(client)).acquire();
        Lease lease = client.named("x", fixture().shortLease(client)).acquire();
        Duration delay = fixture().acceptedDelay(client, Duration.ofSeconds(4));
        assertThat(lease.releaseAfter(delay)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(client.named("x").tryAcquire())
                .as("the kept lock, for its own client")
                .isEmpty();
        Lease again = client.named("x", fixture().shortLease(client))
                .tryAcquire(delay.plus(fixture().backend().takeoverWithin()).plus(FALLBACK))
                .orElseThrow(() -> new AssertionError("the lock never became free"));
        ContractTestFixture.throughout(
                "one lease duration passes", fixture().backend().lease(), () -> {
                    assertThat(again.isHeld()).as("the next lease").isTrue();
                    assertThat(other.isHeld()).as("the other lock").isTrue();
                });
        assertThat(again.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(other.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    default void S14_aDelayOutOfRangeIsRefusedAndTheLeaseKept() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.DELAYED_RELEASE);
        Lease lease = client.named("x").acquire();
        for (Duration delay :
                List.of(Duration.ofSeconds(-1), Duration.ofHours(1).plusNanos(1))) {
            assertThatThrownBy(() -> lease.releaseAfter(delay))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(delay.toString())
                    .hasMessageContaining("PT1H");
        }
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.releaseAfter(Duration.ZERO)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(client.named("x").tryAcquire()).as("free at once").hasValueSatisfying(Lease::close);
    }
}
